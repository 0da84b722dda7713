#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/graph.h"
#include "models/visits.h"
#include "scenarios/measured.h"
#include "sim/cost/pass_time.h"

/// What a pass takes on a calibrated machine: the sum of its operators' medians.
namespace debubble::sim {

/// What one visit of an operator adds to a pass.
struct MeasuredVisit {
    int op = 0;  ///< index into StageGraph::operators
    int times = 1;
    Duration takes{};      ///< all of them
    bool measured = true;  ///< else priced by the device's rates
};

struct MeasuredPass {
    Duration duration{};  ///< of the operators, and of the pass beyond them
    double exposed = 0;   ///< seconds of it, of operators that were priced
    /// "linear ... (backward)": operators that were not measured, and priced by the device's rates.
    std::set<std::string> missing;
    std::vector<MeasuredVisit> visits;
};

/// `again`: a forward that is a Recompute action. Operators of the fold's layer count as often
/// as it says.
MeasuredPass measured_pass(const scenarios::Measured& measured, const models::StageGraph& graph,
                           std::span<const models::Visit> visits, bool again, LayerFold fold,
                           const PassPricer& pricer);

}  // namespace debubble::sim
