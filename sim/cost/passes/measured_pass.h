#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"
#include "scenarios/cluster/measured.h"
#include "sim/cost/passes/pass_time.h"

/// The time of a pass's operators on a calibrated machine: the sum of their medians.
namespace debubble::sim {

/// The contribution of a part of an operator to a pass.
struct OperatorTime {
    int op = 0;  ///< index into StageGraph::operators
    int times = 1;
    Duration takes{};      ///< time of all its calls
    bool measured = true;  ///< if false, priced by the device's rates
};

struct MeasuredPass {
    Duration duration{};  ///< of the operators
    double exposed = 0;   ///< seconds of operators that were priced by rates
    /// Operators that were not measured and are priced by the device's rates: "linear ...
    /// (backward)".
    std::set<std::string> missing;
    std::vector<OperatorTime> operators;
};

/// `again` marks a forward that is a Recompute action. Operators of the fold's layer count as often
/// as the fold says.
MeasuredPass measured_pass(const scenarios::Measured& measured, const models::StageGraph& graph,
                           std::span<const models::OperatorRun> runs, bool again, LayerFold fold,
                           const PassPricer& pricer);

}  // namespace debubble::sim
