#include "sim/plan/plan_bound.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/overloaded.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/plan.h"
#include "schedule/generators/generators.h"
#include "sim/cost/physical_models.h"
#include "sim/plan/ordered_plan.h"
#include "sim/uneven/uneven_steps.h"

namespace debubble::sim {
namespace {

/// Durations of the plan's actions, each kind of pass of a rank priced once.
class Durations {
public:
    Durations(const CostModel& costs, const Placement& placement, int slices)
        : costs_(costs), placement_(placement), index_(placement), slices_(slices) {}

    Duration of(const Action& action, Rank rank) {
        return std::visit(
            Overloaded{
                [&](const Compute& c) { return of(c, rank); },
                [&](const Overlap& o) { return of(o, rank); },
                [&](const Recompute& r) { return costs_.recompute(r, rank).duration; },
                [](const auto&) { return Duration{}; },
            },
            action);
    }

    /// The sum of `pass` over all stages before `stage`, each at its fastest.
    Duration way(Pass pass, Stage stage, MicroBatch mb) {
        std::vector<Duration>& sums = ways_[{pass, mb.slice}];
        if (sums.empty()) sums.push_back(Duration{});
        while (std::ssize(sums) <= stage.index) {
            const Stage before{static_cast<int>(sums.size()) - 1};
            std::optional<Duration> least;
            for (const Rank rank : index_.ranks_of(before)) {
                const Duration d = costs_.compute({pass, before, mb}, rank).duration;
                least = std::min(least.value_or(d), d);
            }
            sums.push_back(checked(sums.back() + least.value_or(Duration{})));
        }
        return sums[stage.index];
    }

private:
    /// The cost of a pass depends on its slice, not on its microbatch.
    Duration of(const Compute& c, Rank rank) {
        const std::span<const Stage> stages = placement_.stages_of(rank);
        if (rank != of_) {
            of_ = rank;
            known_.assign(stages.size() * slices_, {});
        }
        const std::size_t local = std::ranges::find(stages, c.stage) - stages.begin();
        const std::size_t row = local * slices_ + c.micro_batch.slice.value_or(0);
        std::optional<Duration>& known = known_[row][c.pass];
        if (!known) known = costs_.compute(c, rank).duration;
        return *known;
    }

    /// Nor does that of a pair.
    Duration of(Overlap pair, Rank rank) {
        const Overlap asked = pair;
        pair.first.micro_batch.index = pair.second.micro_batch.index = 0;
        const auto [at, is_new] = pairs_.try_emplace({pair, rank});
        if (is_new) at->second = costs_.overlap(asked, rank).duration;
        return at->second;
    }

    const CostModel& costs_;
    const Placement& placement_;
    PlacementIndex index_;
    int slices_;
    /// The sums that are known so far, by stage.
    std::map<std::tuple<Pass, std::optional<std::int16_t>>, std::vector<Duration>> ways_;
    std::map<std::pair<Overlap, Rank>, Duration> pairs_;
    std::optional<Rank> of_;                                        ///< whose passes are known
    std::vector<ArrayBy<Pass, std::optional<Duration>, 4>> known_;  ///< by its stage and slice
};

struct RankBound {
    Duration work{};  ///< duration of all its actions
    Duration end{};   ///< earliest end of the step as this rank sees it
};

/// Where the order depends on costs, the list is another order of the same passes: in the one that
/// is played any weight gradient may come after the last gradient.
enum class Order { Played, Another };

/// The work after the rank's last gradient, at most, and that gradient.
struct Tail {
    Duration work{};
    std::optional<Compute> gradient;
};

Tail tail_of(const ActionList& list, Rank rank, Durations& durations, Order order) {
    Tail tail;
    const auto weighs = [](const Action& action) {
        const auto* compute = std::get_if<Compute>(&action);
        return compute != nullptr && compute->pass == Pass::BackwardWeight;
    };
    for (auto action = list.rbegin(); action != list.rend(); ++action) {
        if (!tail.gradient)
            for_each_compute(*action, [&](const Compute& c) {
                if (c.pass == Pass::Backward || c.pass == Pass::BackwardInput) tail.gradient = c;
            });
        if (tail.gradient && order == Order::Played) break;
        if (!tail.gradient || weighs(*action)) tail.work += durations.of(*action, rank);
    }
    return tail;
}

RankBound rank_bound(const ActionList& list, Rank rank, Durations& durations, Order order) {
    RankBound bound;
    std::optional<Duration> head;
    for (const Action& action : list) {
        for_each_compute(action, [&](const Compute& c) {
            if (!head) head = durations.way(Pass::Forward, c.stage, c.micro_batch);
        });
        bound.work = checked(bound.work + durations.of(action, rank));
        bound.end = std::max(bound.end, head.value_or(Duration{}) + bound.work);
    }
    // The gradients of the earlier stages are still to come after its last one.
    const Tail tail = tail_of(list, rank, durations, order);
    if (!tail.gradient) return bound;
    const Duration up =
        durations.way(tail.gradient->pass, tail.gradient->stage, tail.gradient->micro_batch);
    bound.end = std::max(bound.end, head.value_or(Duration{}) + bound.work - tail.work + up);
    return bound;
}

/// Passes take as long in any order, but for what ZeRO-3 keeps from one to the next.
bool order_has_price(const scenarios::Scenario& scenario) {
    return scenarios::gather_limits(scenario).has_value();
}

/// A plan's passes, without messages, and whether they are in the order in which they are played.
struct Passes {
    scenarios::Plan plan;
    Order order = Order::Played;
};

/// Passes whose order would have to be searched by their costs, in the order of microbatches: each
/// down all stages of a rank, and then up again, the first stage last.
Schedule unsearched(const scenarios::Scenario& scenario) {
    const Generator& generator = *find_generator(scenario.schedule.name);
    const PipelineShape shape = scenario.pipeline_shape();
    Schedule schedule{std::string(generator.name), shape, generator.placement(shape),
                      std::vector<ActionList>(shape.ranks)};
    const bool splits = generator.splits_backward;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        ActionList& list = schedule.ranks[rank];
        std::vector<Stage> stages(schedule.placement.stages_of(Rank{rank}).begin(),
                                  schedule.placement.stages_of(Rank{rank}).end());
        std::ranges::sort(stages);
        for (int mb = 0; mb < shape.micro_batches; ++mb) {
            for (const Stage stage : stages)
                list.push_back(Compute{Pass::Forward, stage, {mb, {}}});
            for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
                if (splits) list.push_back(Compute{Pass::BackwardWeight, *stage, {mb, {}}});
                const Pass back = splits ? Pass::BackwardInput : Pass::Backward;
                list.push_back(Compute{back, *stage, {mb, {}}});
            }
        }
    }
    return schedule;
}

Passes passes_of(const scenarios::Scenario& scenario) {
    const bool searched = needs_costs(scenario);
    if (order_has_price(scenario)) return {ordered_plan(scenario), Order::Played};
    if (scenario.imbalance.documents)
        return {make_plan(scenario), searched ? Order::Another : Order::Played};
    if (!searched) return {scenarios::plan_of_passes(scenario), Order::Played};
    if (find_generator(scenario.schedule.name)->overlaps)
        return {scenarios::plan_of_passes(scenario), Order::Another};
    scenarios::Plan plan;
    plan.schedule = unsearched(scenario);
    plan.stages = scenarios::partition_of(scenario, plan.schedule.stage_count());
    plan.lowering = scenarios::lowering_of(scenario, plan.schedule);
    return {std::move(plan), Order::Another};
}

PlanBound bound_of_cut(const scenarios::Scenario& scenario) {
    const auto [plan, order] = passes_of(scenario);
    const auto prices = std::make_shared<const SchedulePrices>(
        scenario, plan.stages, priced_passes(plan.schedule), LayersNamed::OfFirstAlike);
    const auto whole = make_cost_model(prices);
    const EvenCosts even(scenario, plan, *whole);
    const CostModel& costs = even.costs();
    const auto memory = make_memory_model(prices);
    // An order from a file may run stages again, which its program knows.
    const Schedule& actions = plan.program.ranks.empty() ? plan.schedule : plan.program;
    Durations durations(costs, actions.placement, actions.shape.slices);
    Duration barrier_step{};
    Duration least_period = Duration::max();
    PlanBound bound{0, {}, scenarios::room_of(scenario)};
    for (Rank rank{0}; rank.index < actions.placement.ranks(); ++rank.index) {
        const ActionList& list = actions.ranks[rank];
        const RankBound of_rank = rank_bound(list, rank, durations, order);
        const Duration optimizer = costs.optimizer_step(rank);
        barrier_step = std::max(barrier_step, of_rank.end + optimizer);
        least_period = std::min(least_period, of_rank.work + optimizer);
        // The optimizer's step has its temporaries beside all of it.
        bound.memory = std::max(bound.memory, total(memory->static_memory(rank)) +
                                                  memory->gradients_in_backward(rank) +
                                                  memory->optimizer_transient(rank));
    }
    // Without a barrier the step is the distance between the ends of two of them, and the rank that
    // ends last is only known after they were played.
    const bool barrier = plan.lowering.optimizer != OptimizerPlacement::PostValidated;
    bound.step_time_s = seconds(barrier ? barrier_step : least_period);
    return bound;
}

}  // namespace

PlanBound bound_of(const scenarios::Scenario& scenario) {
    if (scenario.parallel.partition != scenarios::Partition::Balanced)
        return bound_of_cut(scenario);
    std::optional<PlanBound> least;
    for (const scenarios::Scenario& cut : cuts_to_choose_from(scenario)) {
        const PlanBound bound = bound_of_cut(cut);
        if (!least) least = bound;
        least->step_time_s = std::min(least->step_time_s, bound.step_time_s);
        least->memory = std::min(least->memory, bound.memory);
    }
    return *least;
}

}  // namespace debubble::sim
