#pragma once

#include <memory>

#include "scenarios/plan/plan.h"
#include "sim/cost/schedule_prices.h"
#include "sim/engine/cost_model.h"
#include "sim/engine/simulate_options.h"
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

/// The header of a scenario's predicted trace, but for its hash and its step time.
TraceHeader header_of(const scenarios::Scenario& scenario, Transport transport);

/// False where the next step begins on a rank before this one has ended everywhere.
bool has_barrier(const scenarios::Plan& plan);

/// How a plan is played whose step is predicted.
SimulateOptions played_step(const scenarios::Scenario& scenario, const scenarios::Plan& plan);

}  // namespace debubble::sim
