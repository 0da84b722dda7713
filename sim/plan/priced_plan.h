#pragma once

#include <memory>

#include "scenarios/plan/plan.h"
#include "sim/cost/schedule_prices.h"
#include "sim/engine/cost_model.h"
#include "sim/memory/memory_model.h"

namespace debubble::sim {

/// A plan with what its passes cost and hold.
struct PricedPlan {
    scenarios::Plan plan;
    std::unique_ptr<CostModel> costs;
    std::unique_ptr<MemoryModel> memory;
    std::shared_ptr<const SchedulePrices> prices;  ///< those that `costs` are read from
};

/// Prices a plan that was made of the scenario. Throws what make_cost_model() throws.
PricedPlan priced(scenarios::Plan plan, const scenarios::Scenario& scenario);

/// The passes of the scenario's schedule, those of its generator where the order depends on costs.
/// Throws what make_plan() throws.
PricedPasses passes_to_price(const scenarios::Scenario& scenario);

/// Makes the plan. A generator that uses costs gets those of this scenario, and, where it takes a
/// limit and none is given, the number of microbatches that its device can hold. In the order that
/// it finds, passes may follow other passes than assumed for these costs, so that ZeRO-3 keeps
/// other parameters from one to the next: priced() prices them again. Throws what make_plan() and
/// make_cost_model() throw.
scenarios::Plan ordered_plan(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
