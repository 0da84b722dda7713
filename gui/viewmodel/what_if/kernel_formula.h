#pragma once

#include <vector>

#include "gui/viewmodel/timeline/wording.h"
#include "scenarios/cluster/cluster.h"
#include "schedule/schedule.h"
#include "sim/cost/price_part.h"
#include "sim/engine/cost_model.h"

/// The formulas of the cost model with their numbers.
namespace debubble::gui {

/// The formula that gives the time of one of a part's kernels.
std::vector<Detail> formula_of(const sim::PricePart& part, const scenarios::Gpu& gpu);

/// The formula of a message, or of a collective between passes: latency + bytes / bandwidth.
std::vector<Detail> words_of_flow(const sim::CostModel& costs, const Placement& placement,
                                  const Action& action, Rank rank);

}  // namespace debubble::gui
