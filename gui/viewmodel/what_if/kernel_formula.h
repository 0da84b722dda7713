#pragma once

#include <vector>

#include "gui/viewmodel/what_if/pass_cost.h"
#include "models/kernel.h"
#include "scenarios/cluster.h"
#include "sim/engine/cost_model.h"

/// The formulas of the cost model with their numbers.
namespace debubble::gui {

/// Of anything but a collective. `takes`: one of them.
std::vector<Detail> formula_of(const models::Kernel& kernel, const scenarios::Gpu& gpu,
                               Duration takes);
/// `alone`: if nothing runs beside it.
std::vector<Detail> formula_of(const models::Collective& collective, Duration alone);

/// "cost": the sum, with a part per operator.
Detail words_of(const PassCost& cost);

/// A message, or a collective between passes: latency + bytes / bandwidth.
std::vector<Detail> words_of_flow(const sim::CostModel& costs, const Placement& placement,
                                  const Action& action, Rank rank);

}  // namespace debubble::gui
