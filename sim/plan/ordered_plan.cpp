#include "sim/plan/ordered_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/plan/derived.h"
#include "schedule/generators/generators.h"
#include "sim/cost/physical_models.h"
#include "sim/plan/limits_to_fit.h"
#include "sim/plan/priced_plan.h"

namespace debubble::sim {

using scenarios::Plan;
using scenarios::Scenario;

namespace {

/// F, I and W of every stage, for the generators that use costs. A fused backward is all I: its
/// order has no W to place.
PipelineCosts pipeline_costs(const CostModel& model, const Placement& placement, bool split) {
    PipelineCosts costs;
    const PlacementIndex index(placement);
    for (int s = 0; s < index.stage_count(); ++s) {
        const Stage stage{s};
        const Rank rank = index.ranks_of(stage).front();
        const auto cost = [&](Pass pass) {
            return model.compute({pass, stage, {}}, rank).duration;
        };
        if (split)
            costs.stages.push_back(
                {cost(Pass::Forward), cost(Pass::BackwardInput), cost(Pass::BackwardWeight)});
        else
            costs.stages.push_back({cost(Pass::Forward), cost(Pass::Backward), Duration{}});
    }
    if (placement.ranks() > 1 && index.stage_count() > 1) {
        const Message first{Message::Kind::Activation, Stage{0}, {}};
        const Rank from = index.ranks_of(Stage{0}).front();
        const Rank to = index.ranks_of(Stage{1}).front();
        const Flow flow = model.transfer(first, from, to);
        costs.link = flow.latency;
        if (!flow.links.empty()) costs.link += flow.bytes / model.links()[flow.links.front()];
    }
    return costs;
}

/// zb-auto's `mem_b` of each rank, by the tensors of its stages.
std::string freed_by_graph(const MemoryModel& model, const Placement& placement) {
    std::vector<double> changes;
    for (int r = 0; r < placement.ranks(); ++r) {
        Bytes held;
        Bytes change;
        for (const Stage stage : placement.stages_of(Rank{r})) {
            held += model.compute({Pass::Forward, stage, {}}).held_after;
            change += model.compute({Pass::BackwardInput, stage, {}}).held_after;
        }
        const double share = static_cast<double>(change.count) / static_cast<double>(held.count);
        changes.push_back(held.count > 0 ? std::clamp(share, -1.0, 0.0) : 0.0);
    }
    return fmt::format("{:.6f}", fmt::join(changes, ","));
}

/// The passes of a schedule that has no order yet. Until there is one, each backward counts as
/// following its forward.
PricedPasses passes_before_order(const Generator& generator, const PipelineShape& shape) {
    PricedPasses passes;
    passes.placement = generator.placement(shape);
    passes.kinds.fused = !generator.splits_backward;
    passes.kinds.split = generator.splits_backward;
    passes.kinds.several_holders = has_several_holders(passes.placement);
    passes.kinds.backwards_follow = true;
    return passes;
}

}  // namespace

PricedPasses passes_to_price(const Scenario& scenario) {
    if (!needs_costs(scenario)) return priced_passes(scenarios::plan_of_passes(scenario).schedule);
    return passes_before_order(*find_generator(scenario.schedule.name), scenario.pipeline_shape());
}

Plan ordered_plan(const Scenario& scenario, const std::stop_token& stop) {
    if (!needs_costs(scenario)) return make_plan(scenario);
    const Generator& generator = *find_generator(scenario.schedule.name);
    const PricedPasses passes = passes_before_order(generator, scenario.pipeline_shape());
    const Placement& placement = passes.placement;
    const auto stages = partition_of(scenario, placement.stage_count());
    const auto prices = std::make_shared<const SchedulePrices>(scenario, stages, passes);
    const auto costs = make_cost_model(prices);
    Scenario informed = scenario;
    std::map<std::string, std::string>& options = informed.schedule.options;
    if (scenarios::frees_by_graph(scenario.schedule))
        options["mem_b"] = freed_by_graph(*make_memory_model(prices), placement);
    const PipelineCosts known = pipeline_costs(*costs, placement, generator.splits_backward);
    if (!informed.schedule.memory_limits.empty() || !generator.takes_memory_limit)
        return make_plan(informed, known);
    LimitsToFit limits(*make_memory_model(prices), placement, scenario, options.contains("mem_b"));
    for (;;) {
        informed.schedule.memory_limits = limits.by_rank();
        Plan plan = make_plan(informed, known);
        if (!limits.lower(priced(plan, scenario), scenario, stop)) return plan;
    }
}

}  // namespace debubble::sim
