#pragma once

#include <stop_token>

#include "scenarios/plan/plan.h"
#include "sim/cost/schedule_prices.h"

namespace debubble::sim {

/// The passes of the scenario's schedule, those of its generator where the order depends on costs.
/// Throws what make_plan() throws.
PricedPasses passes_to_price(const scenarios::Scenario& scenario);

/// Makes the plan. A generator that uses costs gets those of this scenario, and, where it takes a
/// limit and none is given, the most microbatches with which each rank fits into its device
/// (sim/plan/limits_to_fit.h). In the order that it finds, passes may follow other passes than
/// assumed for these costs, so that ZeRO-3 keeps other parameters from one to the next: priced()
/// prices them again. Throws what make_plan() and make_cost_model() throw, and Cancelled soon after
/// a stop.
scenarios::Plan ordered_plan(const scenarios::Scenario& scenario, const std::stop_token& stop = {});

}  // namespace debubble::sim
