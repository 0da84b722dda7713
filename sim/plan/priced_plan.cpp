#include "sim/plan/priced_plan.h"

#include <utility>

#include "scenarios/plan/packing.h"
#include "sim/cost/physical_models.h"

namespace debubble::sim {

using scenarios::Plan;
using scenarios::Scenario;

TraceHeader header_of(const Scenario& scenario, Transport transport) {
    const scenarios::Parallel& parallel = scenario.parallel;
    return {.source = TraceSource::Simulated,
            .scenario = scenario.name,
            .tensor = parallel.tensor,
            .context = parallel.context,
            .data = parallel.data,
            .pipeline = parallel.pipeline,
            .transport = transport,
            .sends_block = scenarios::sends_block(scenario),
            // A processor makes its copies itself.
            .copies_block = scenario.cluster.gpu.threads.has_value(),
            // A rank without room for whole gradients waits until they are summed.
            .reductions_block = parallel.shares_gradients() && scenario.framework.reduces_by_layer};
}

bool has_barrier(const Plan& plan) {
    return plan.lowering.optimizer != OptimizerPlacement::PostValidated;
}

SimulateOptions played_step(const Scenario& scenario, const Plan& plan) {
    SimulateOptions how;
    how.steps = has_barrier(plan) ? 1 : 2;
    how.header = header_of(scenario, plan.lowering.transport);
    return how;
}

PricedPlan priced(Plan plan, const Scenario& scenario) {
    const auto prices =
        std::make_shared<const SchedulePrices>(scenario, plan.stages, plan.schedule);
    auto of_memory = prices;
    if (scenarios::packs_in_step(scenario))
        of_memory = std::make_shared<const SchedulePrices>(scenarios::with_full_ranks(scenario),
                                                           plan.stages, plan.schedule);
    return {std::move(plan), make_cost_model(prices), make_memory_model(of_memory), prices};
}

}  // namespace debubble::sim
