#include "sim/plan_bound.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/overloaded.h"
#include "scenarios/gather_limits.h"
#include "scenarios/headroom.h"
#include "scenarios/plan.h"
#include "sim/cost/physical_cost_model.h"
#include "sim/cost/physical_memory_model.h"
#include "sim/cuts_to_choose_from.h"
#include "sim/priced_plan.h"
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

PlanBound bound_of_cut(const scenarios::Scenario& scenario) {
    const bool played = order_has_price(scenario) || !needs_costs(scenario);
    const scenarios::Plan plan =
        played && needs_costs(scenario) ? price(scenario).plan : make_plan(scenario);
    const Order order = played ? Order::Played : Order::Another;
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
        const RankBound of_rank = rank_bound(list, rank, durations, order);
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
