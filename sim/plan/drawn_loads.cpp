#include "sim/plan/drawn_loads.h"

#include "base/overloaded.h"
#include "scenarios/plan/packing.h"

namespace debubble::sim {

using scenarios::Scenario;

namespace {

std::optional<UnevenCostModel> even_routers(const Scenario& scenario, const LoadCurves& curves,
                                            double attended) {
    const std::optional<double> even = scenario.imbalance.even_load;
    if (!even) return std::nullopt;
    return UnevenCostModel(curves, EvenLoads{attended, even});
}

}  // namespace

DrawnSteps::DrawnSteps(const Scenario& scenario, const PricedPlan& priced,
                       const SimulateOptions& how)
    : mean_(scenario, priced.plan, *priced.costs),
      curves_(scenario, priced.plan.stages, priced.plan.schedule, priced.plan.program,
              *priced.costs),
      of_even_routers_(even_routers(scenario, curves_, mean_.attended())),
      steps_(play_draws(curves_, even(), priced.plan.program, how)),
      middle_(curves_, steps_.ends) {}

LoadsOfStep::LoadsOfStep(const Scenario& scenario, const PricedPlan& priced)
    : priced_(priced),
      known_(std::in_place_type<EvenCosts>, scenario, priced.plan, *priced.costs) {}

LoadsOfStep::LoadsOfStep(const Scenario& scenario, const PricedPlan& priced,
                         const SimulateOptions& how)
    : priced_(priced), known_(drawn(scenario, priced, how)) {}

LoadsOfStep::Known LoadsOfStep::drawn(const Scenario& scenario, const PricedPlan& priced,
                                      const SimulateOptions& how) {
    if (scenarios::packs_in_step(scenario))
        return Known(std::in_place_type<PackedSteps>, scenario, priced.plan, how);
    return Known(std::in_place_type<DrawnSteps>, scenario, priced, how);
}

const CostModel& LoadsOfStep::costs() const {
    return std::visit([](const auto& known) -> const CostModel& { return known.costs(); }, known_);
}

const Program& LoadsOfStep::program() const {
    const auto* packed = std::get_if<PackedSteps>(&known_);
    return packed ? packed->program() : priced_.plan.program;
}

const CostModel* LoadsOfStep::even() const {
    return std::visit(Overloaded{[](const EvenCosts&) -> const CostModel* { return nullptr; },
                                 [](const auto& drawn) { return &drawn.even(); }},
                      known_);
}

const CostModel& LoadsOfStep::mean() const {
    const auto* drawn = std::get_if<DrawnSteps>(&known_);
    return drawn ? drawn->mean().costs() : costs();
}

double LoadsOfStep::attended() const {
    return std::visit(Overloaded{[](const EvenCosts& even) { return even.attended(); },
                                 [](const DrawnSteps& drawn) { return drawn.mean().attended(); },
                                 [](const PackedSteps&) { return 1.0; }},
                      known_);
}

std::optional<UnevenSteps> LoadsOfStep::steps() const {
    return std::visit(Overloaded{[](const EvenCosts&) { return std::optional<UnevenSteps>(); },
                                 [](const auto& drawn) { return std::optional(drawn.steps()); }},
                      known_);
}

LoadedMemory::LoadedMemory(const Scenario& scenario, const PricedPlan& priced,
                           const CostModel& mean, const SimulateOptions& how)
    : times(simulate(priced.plan.program, mean, *priced.memory, how).times),
      drawn(scenario, priced.plan, priced.plan.program, *priced.memory, times, how.stop) {}

std::unique_ptr<const LoadedMemory> draw_memory(const Scenario& scenario, const PricedPlan& priced,
                                                const CostModel& mean, SimulateOptions how) {
    if (!scenario.imbalance.routers_differ()) return nullptr;
    how.record_spans = false;
    return std::make_unique<const LoadedMemory>(scenario, priced, mean, how);
}

}  // namespace debubble::sim
