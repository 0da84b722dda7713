#include "sim/plan/priced_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/plan/derived.h"
#include "scenarios/plan/packing.h"
#include "schedule/generators/generators.h"
#include "sim/cost/physical_models.h"

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

/// The number of microbatches whose activations fit in addition to each rank's static memory; at
/// least one, since a plan that does not fit is played too. Whole ones, unless some are counted in
/// parts.
std::vector<double> affordable_micro_batches(const MemoryModel& model, const Placement& placement,
                                             Bytes limit, bool in_parts) {
    std::vector<double> affordable;
    for (int r = 0; r < placement.ranks(); ++r) {
        const Rank rank{r};
        Bytes held;
        Bytes above;
        for (const Stage stage : placement.stages_of(rank)) {
            const PassMemory forward = model.compute({Pass::Forward, stage, {}});
            const PassMemory input = model.compute({Pass::BackwardInput, stage, {}});
            held += forward.held_after + std::max(Bytes{}, input.held_after);
            above = std::max({above, forward.peak_above - forward.held_after, input.peak_above});
        }
        const Bytes left =
            limit - total(model.static_memory(rank)) - model.gradients_in_backward(rank) - above;
        const double fit = static_cast<double>(left.count) / static_cast<double>(held.count);
        affordable.push_back(std::max(1.0, in_parts ? fit : std::floor(fit)));
    }
    return affordable;
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

PricedPlan priced(Plan plan, const Scenario& scenario) {
    const auto prices =
        std::make_shared<const SchedulePrices>(scenario, plan.stages, plan.schedule);
    auto of_memory = prices;
    if (scenarios::packs_in_step(scenario))
        of_memory = std::make_shared<const SchedulePrices>(scenarios::with_full_ranks(scenario),
                                                           plan.stages, plan.schedule);
    return {std::move(plan), make_cost_model(prices), make_memory_model(of_memory), prices};
}

PricedPasses passes_to_price(const Scenario& scenario) {
    if (!needs_costs(scenario)) return priced_passes(scenarios::plan_of_passes(scenario).schedule);
    return passes_before_order(*find_generator(scenario.schedule.name), scenario.pipeline_shape());
}

Plan ordered_plan(const Scenario& scenario) {
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
    std::vector<double>& limits = informed.schedule.memory_limits;
    if (limits.empty() && generator.takes_memory_limit) {
        limits = affordable_micro_batches(*make_memory_model(prices), placement,
                                          scenarios::room_of(scenario), options.contains("mem_b"));
        // More than 2p gain nothing.
        for (double& limit : limits) limit = std::min(limit, 2.0 * scenario.parallel.pipeline);
    }
    return make_plan(informed, pipeline_costs(*costs, placement, generator.splits_backward));
}

}  // namespace debubble::sim
