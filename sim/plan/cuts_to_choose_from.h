#pragma once

#include <vector>

#include "scenarios/plan/scenario.h"

namespace debubble::sim {

/// The scenario with each of the cuts that `parallel.partition: balanced` chooses from: the uniform
/// one, and the one whose busiest rank works for the shortest time by the prices of its passes
/// (sim/cost/schedule_prices.h), unless that is the uniform one. Throws what make_plan() throws.
std::vector<scenarios::Scenario> cuts_to_choose_from(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
