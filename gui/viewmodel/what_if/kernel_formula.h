#pragma once

#include <vector>

#include "gui/viewmodel/timeline/wording.h"
#include "scenarios/cluster.h"
#include "schedule/schedule.h"
#include "sim/cost/price_part.h"
#include "sim/engine/cost_model.h"

/// The formulas of the cost model with their numbers.
namespace debubble::gui {

/// How one of a part comes to what it takes.
std::vector<Detail> formula_of(const sim::PricePart& part, const scenarios::Gpu& gpu);

/// A message, or a collective between passes: latency + bytes / bandwidth.
std::vector<Detail> words_of_flow(const sim::CostModel& costs, const Placement& placement,
                                  const Action& action, Rank rank);

}  // namespace debubble::gui
