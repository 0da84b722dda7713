#include "sim/plan_bound.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/overloaded.h"
#include "scenarios/headroom.h"
#include "scenarios/plan.h"
#include "sim/cost/physical_cost_model.h"
#include "sim/cost/physical_memory_model.h"
#include "sim/uneven/uneven_cost_model.h"

namespace debubble::sim {
namespace {

/// Durations of the plan's actions, each kind of pass priced once.
class Durations {
public:
    Durations(const CostModel& costs, const Placement& placement)
        : costs_(costs), index_(placement) {}

    Duration of(const Action& action, Rank rank) {
        return std::visit(
            Overloaded{
                [&](const Compute& c) { return of(c, rank); },
                [&](const Overlap& o) { return costs_.overlap(o, rank).duration; },
                [&](const Recompute& r) { return costs_.recompute(r, rank).duration; },
                [](const auto&) { return Duration{}; },
            },
            action);
    }

    /// The sum of `pass` over all stages before `stage`, each at its fastest.
    Duration way(Pass pass, Stage stage, MicroBatch mb) {
        std::vector<Duration>& sums = ways_[{pass, mb.slice}];
        if (sums.empty()) sums.push_back(Duration{});
        while (sums.size() <= static_cast<std::size_t>(stage.index)) {
            const Stage before{static_cast<int>(sums.size()) - 1};
            std::optional<Duration> least;
            for (const Rank rank : index_.ranks_of(before)) {
                const Duration d = of({pass, before, mb}, rank);
                least = std::min(least.value_or(d), d);
            }
            sums.push_back(checked(sums.back() + least.value_or(Duration{})));
        }
        return sums[stage.index];
    }

private:
    /// The cost of a pass depends on its slice, not on its microbatch.
    Duration of(const Compute& c, Rank rank) {
        const auto key = std::tuple(c.pass, c.stage, rank, c.micro_batch.slice);
        const auto [at, is_new] = known_.try_emplace(key);
        if (is_new) at->second = costs_.compute(c, rank).duration;
        return at->second;
    }

    const CostModel& costs_;
    PlacementIndex index_;
    /// The sums that are known so far, by stage.
    std::map<std::tuple<Pass, std::optional<std::int16_t>>, std::vector<Duration>> ways_;
    std::map<std::tuple<Pass, Stage, Rank, std::optional<std::int16_t>>, Duration> known_;
};

struct RankBound {
    Duration work{};  ///< duration of all its actions
    Duration end{};   ///< earliest end of the step as this rank sees it
};

RankBound rank_bound(const ActionList& list, Rank rank, Durations& durations) {
    RankBound bound;
    std::optional<Duration> head;
    for (const Action& action : list) {
        for_each_compute(action, [&](const Compute& c) {
            if (!head) head = durations.way(Pass::Forward, c.stage, c.micro_batch);
        });
        bound.work = checked(bound.work + durations.of(action, rank));
        bound.end = std::max(bound.end, head.value_or(Duration{}) + bound.work);
    }
    // The time after its last gradient, when those of the earlier stages are still to come.
    Duration after{};
    for (auto action = list.rbegin(); action != list.rend(); ++action) {
        std::optional<Duration> tail;
        for_each_compute(*action, [&](const Compute& c) {
            if (c.pass == Pass::Backward || c.pass == Pass::BackwardInput)
                tail = durations.way(c.pass, c.stage, c.micro_batch);
        });
        if (tail) {
            bound.end = std::max(bound.end, head.value_or(Duration{}) + bound.work - after + *tail);
            break;
        }
        after += durations.of(*action, rank);
    }
    return bound;
}

}  // namespace

PlanBound bound_of(const scenarios::Scenario& scenario) {
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const auto prices =
        std::make_shared<const SchedulePrices>(scenario, plan.stages, plan.schedule);
    const auto whole = make_cost_model(prices);
    const EvenCosts even(scenario, plan, *whole);
    const CostModel& costs = even.costs();
    const auto memory = make_memory_model(prices);
    Durations durations(costs, plan.schedule.placement);
    Duration barrier_step{};
    Duration least_period = Duration::max();
    PlanBound bound{0, {}, scenarios::room_of(scenario)};
    for (Rank rank{0}; rank.index < plan.program.placement.ranks(); ++rank.index) {
        const ActionList& list = plan.program.ranks[static_cast<std::size_t>(rank.index)];
        const RankBound of_rank = rank_bound(list, rank, durations);
        const Duration optimizer = costs.optimizer_step(rank);
        barrier_step = std::max(barrier_step, of_rank.end + optimizer);
        least_period = std::min(least_period, of_rank.work + optimizer);
        bound.memory = std::max(
            bound.memory, total(memory->static_memory(rank)) + memory->gradients_in_backward(rank));
    }
    // Without a barrier the step is the distance between the ends of two of them, and the rank that
    // ends last is only known after they were played.
    const bool barrier = plan.lowering.optimizer != OptimizerPlacement::PostValidated;
    bound.step_time_s = seconds(barrier ? barrier_step : least_period);
    return bound;
}

}  // namespace debubble::sim
