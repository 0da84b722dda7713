#pragma once

#include <string>
#include <vector>

#include "gui/viewmodel/timeline/wording.h"
#include "scenarios/cluster/cluster.h"
#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/cost/price_part.h"
#include "sim/engine/cost_model.h"

/// The parts of an action's time in the cost model.
namespace debubble::gui {

/// The cost of one operator of a pass over all layers of the stage.
struct CostPart {
    std::string name;  ///< such as "mlp.c_fc"
    int times = 1;
    /// Time of all of them; of communication the part that nothing hides.
    Duration takes{};
    std::vector<Detail> formula = {};  ///< formula of one of them, with its numbers
};

/// The cost of a pass. Its parts add up to its time when nothing delays it.
struct PassCost {
    Duration takes{};
    std::vector<CostPart> parts;  ///< the longest first
};

/// The cost of a pass. `program` is the scenario's, and `action` is a Compute or a Recompute of it.
PassCost pass_cost(const scenarios::Scenario& scenario, const Program& program,
                   const Action& action);

/// The cost of any action in words: a pass by its operators, a message by latency and bandwidth.
/// Empty for actions without a cost. Takes some milliseconds.
std::vector<Detail> details_of_cost(const scenarios::Scenario& scenario, const Program& program,
                                    const Action& action, Rank rank);

/// The formula that gives the time of one of a part's kernels.
std::vector<Detail> formula_of(const sim::PricePart& part, const scenarios::Gpu& gpu);

/// The formula of a message, or of a collective between passes: latency + bytes / bandwidth.
std::vector<Detail> flow_formula(const sim::CostModel& costs, const Placement& placement,
                                 const Action& action, Rank rank);

}  // namespace debubble::gui
