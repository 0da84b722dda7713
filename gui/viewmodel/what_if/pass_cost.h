#pragma once

#include <string>
#include <vector>

#include "gui/viewmodel/timeline/wording.h"
#include "scenarios/scenario.h"
#include "schedule/schedule.h"

/// Where the time of an action comes from, as the cost model sees it.
namespace debubble::gui {

/// What one operator of a pass takes, in all layers of the stage.
struct CostPart {
    std::string name;  ///< "mlp.c_fc"
    int times = 1;
    Duration takes{};                  ///< all of them; of communication what nothing hides
    std::vector<Detail> formula = {};  ///< of one of them, with its numbers
};

/// The parts add up to what the pass takes when nothing stands in its way.
struct PassCost {
    Duration takes{};
    std::vector<CostPart> parts;  ///< the longest first
};

/// `program` is the scenario's, `action` a Compute or a Recompute of it.
PassCost pass_cost(const scenarios::Scenario& scenario, const Program& program,
                   const Action& action);

/// The cost of any action in words: a pass by its operators, a message by latency and bandwidth.
/// Empty where there is nothing to say. Takes some milliseconds.
std::vector<Detail> details_of_cost(const scenarios::Scenario& scenario, const Program& program,
                                    const Action& action, Rank rank);

}  // namespace debubble::gui
