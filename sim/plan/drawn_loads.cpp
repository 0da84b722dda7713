#include "sim/plan/drawn_loads.h"

#include "scenarios/plan/packing.h"

namespace debubble::sim {

using scenarios::Plan;
using scenarios::Scenario;

namespace {

DrawnLoads draw_packed_loads(const Scenario& scenario, const PricedPlan& priced,
                             const SimulateOptions& how) {
    DrawnLoads drawn;
    drawn.packed = std::make_unique<const PackedSteps>(scenario, priced.plan, how);
    drawn.costs = &drawn.packed->costs();
    drawn.even = &drawn.packed->even();
    drawn.program = &drawn.packed->program();
    drawn.steps = drawn.packed->steps();
    return drawn;
}

}  // namespace

DrawnLoads even_loads(const Scenario& scenario, const PricedPlan& priced) {
    DrawnLoads loads;
    loads.of_even = std::make_unique<const EvenCosts>(scenario, priced.plan, *priced.costs);
    loads.costs = &loads.of_even->costs();
    loads.attended = loads.of_even->attended();
    loads.program = &priced.plan.program;
    return loads;
}

DrawnLoads draw_loads(const Scenario& scenario, const PricedPlan& priced,
                      const SimulateOptions& how) {
    if (scenarios::packs_in_step(scenario)) return draw_packed_loads(scenario, priced, how);
    DrawnLoads drawn = even_loads(scenario, priced);
    const Plan& plan = priced.plan;
    drawn.even = drawn.costs;
    drawn.curves = std::make_unique<const LoadCurves>(scenario, plan.stages, plan.schedule,
                                                      plan.program, *priced.costs);
    if (const auto even = scenario.imbalance.even_load) {
        drawn.of_even_routers =
            std::make_unique<const UnevenCostModel>(*drawn.curves, EvenLoads{drawn.attended, even});
        drawn.even = drawn.of_even_routers.get();
    }
    drawn.steps = play_draws(*drawn.curves, *drawn.even, plan.program, how);
    drawn.of_curves = std::make_unique<const UnevenCostModel>(*drawn.curves, drawn.steps->ends);
    drawn.costs = drawn.of_curves.get();
    return drawn;
}

std::unique_ptr<const LoadedMemory> draw_memory(const Scenario& scenario, const PricedPlan& priced,
                                                const CostModel& mean, SimulateOptions how) {
    if (!scenario.imbalance.routers_differ()) return nullptr;
    how.record_spans = false;
    const Program& program = priced.plan.program;
    auto loaded = std::make_unique<LoadedMemory>();
    loaded->times = simulate(program, mean, *priced.memory, how).times;
    loaded->drawn.emplace(scenario, priced.plan, program, *priced.memory, loaded->times, how.stop);
    return loaded;
}

}  // namespace debubble::sim
