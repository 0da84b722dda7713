#include <gmock/gmock.h>

#include <thread>

#include "schedule/generators/generators.h"
#include "schedule/generators/search/critical_runs.h"
#include "schedule/generators/search/list_scheduling.h"
#include "schedule/generators/search/order_player.h"
#include "tests/schedule/generators/search_cases.h"

namespace debubble {
namespace {

OrderProblem random_problem(std::mt19937& random) {
    const auto draw = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    const int chunks = draw(1, 2);
    const PipelineShape shape{draw(1, 5), chunks, draw(1, 9)};
    std::vector<int> limits;
    const bool for_each = draw(0, 1) == 1;
    for (int rank = 0; rank < (for_each ? shape.ranks : 1); ++rank)
        limits.push_back(draw(2, 2 * shape.ranks + 2));
    return {shape, random_costs(random, shape.stages()), true, limits, draw(0, 1) == 1};
}

constexpr std::array kPolicies{
    ListPolicy{.choice = ListPolicy::Choice::Alternate},
    ListPolicy{.choice = ListPolicy::Choice::Alternate, .weight_fits_percent = 0},
    ListPolicy{.choice = ListPolicy::Choice::BackwardFirst, .weight_fits_percent = 50}};

bool operator==(const PlanLength& a, const PlanLength& b) {
    return a.makespan == b.makespan && a.span == b.span;
}

/// The player knows nothing of time's order, the replay of schedules does.
TEST(OrderPlayer, TakesAsLongAsTheReplay) {
    std::mt19937 random(1);
    for (int i = 0; i < 200; ++i) {
        const OrderProblem problem = random_problem(random);
        ListScheduler scheduler(problem);
        for (const ListPolicy& policy : kPolicies) {
            const auto listed = scheduler.play(policy);
            ASSERT_TRUE(listed);
            const auto played = OrderPlayer(problem).play(scheduler.order());
            ASSERT_TRUE(played);
            EXPECT_TRUE(*played == *listed);
            const Schedule schedule = to_schedule("any", problem, {scheduler.order(), *listed});
            EXPECT_EQ(played->makespan, replay(schedule, problem.costs).makespan);
        }
    }
}

TEST(OrderPlayer, RefusesWhatGetsStuckOrHoldsTooMuch) {
    const OrderProblem problem{{2, 1, 2}, unit_costs(), true, {1}, false};
    const Step f{Pass::Forward, 0};
    const Step i{Pass::BackwardInput, 0};
    const Step w{Pass::BackwardWeight, 0};
    OrderPlayer player(problem);
    EXPECT_TRUE(player.play({{f, i, w, f, i, w}, {f, i, w, f, i, w}}));
    EXPECT_FALSE(player.play({{f, f, i, w, i, w}, {f, i, w, f, i, w}})) << "holds two";
    EXPECT_FALSE(player.play({{f, w, i, f, i, w}, {f, i, w, f, i, w}})) << "W before its I";
    EXPECT_FALSE(player.play({{i, f, w, f, i, w}, {f, i, w, f, i, w}})) << "a cycle";
}

/// Giving up early must not give up what would have won.
TEST(OrderSearch, GivesUpExactlyWhatIsNotShorter) {
    std::mt19937 random(2);
    for (int i = 0; i < 200; ++i) {
        const OrderProblem problem = random_problem(random);
        ListScheduler scheduler(problem);
        OrderPlayer player(problem);
        for (const ListPolicy& first : kPolicies) {
            const PlanLength to_beat = *scheduler.play(first);
            for (const ListPolicy& second : kPolicies) {
                const PlanLength length = *scheduler.play(second);
                const std::vector<StepOrder> order = scheduler.order();
                const bool wins = shorter(problem, length, to_beat);
                EXPECT_EQ(scheduler.play(second, to_beat).has_value(), wins);
                EXPECT_EQ(player.play(order, to_beat).has_value(), wins);
            }
        }
    }
}

/// Moves that leave the critical runs whole are not tried: none may be a loss.
TEST(CriticalRuns, NoMoveThatKeepsThemShortensTheMakespan) {
    std::mt19937 random(3);
    int kept = 0;
    int broken = 0;
    for (int i = 0; i < 300; ++i) {
        const OrderProblem problem = random_problem(random);
        ListScheduler scheduler(problem);
        scheduler.play(kPolicies[i % kPolicies.size()]);
        const std::vector<StepOrder> order = scheduler.order();
        OrderPlayer player(problem);
        const Duration makespan = player.play(order)->makespan;
        int latest = 0;
        for (int rank = 1; rank < problem.shape.ranks; ++rank)
            if (player.end(rank) > player.end(latest)) latest = rank;
        const CriticalRuns runs(problem, order, player, latest);
        const auto check = [&](int rank, std::size_t from, std::size_t to, bool back) {
            const bool may_gain = back ? runs.broken_by_moving_back(rank, order[rank], from, to)
                                       : runs.broken_by_moving_ahead(rank, order[rank], from, to);
            ++(may_gain ? broken : kept);
            if (may_gain) return;
            std::vector<StepOrder> moved = order;
            const auto first = moved[rank].begin() + static_cast<std::ptrdiff_t>(from);
            const auto last = moved[rank].begin() + static_cast<std::ptrdiff_t>(to);
            std::rotate(first, back ? first + 1 : last, last + 1);
            const auto length = player.play(moved);
            if (!length) return;
            EXPECT_GE(length->makespan, makespan);
        };
        for (int rank = 0; rank < problem.shape.ranks; ++rank)
            for (std::size_t from = 0; from < order[rank].size(); ++from)
                for (std::size_t to = from + 1; to < std::min(from + 6, order[rank].size()); ++to)
                    for (const bool back : {true, false}) check(rank, from, to, back);
    }
    EXPECT_GT(kept, broken);
    EXPECT_GT(broken, 1000);
}

/// What an earlier search left behind must not show, nor who made it.
TEST(OrderSearch, IsTheSameFromManyThreadsAndAgain) {
    std::mt19937 random(4);
    for (int i = 0; i < 6; ++i) {
        const PipelineShape shape{2 + i % 3, 2, 5 + i};
        std::vector<GeneratorOptions> asked(4);
        for (GeneratorOptions& options : asked)
            options.costs = random_costs(random, shape.stages());
        std::vector<std::vector<Schedule>> answers(3, std::vector<Schedule>(asked.size()));
        {
            std::vector<std::jthread> threads;
            for (auto& mine : answers)
                threads.emplace_back([&] {
                    for (std::size_t k = 0; k < asked.size(); ++k)
                        mine[k] = generate("v-half", shape, asked[k]);
                });
        }
        for (std::size_t k = 0; k < asked.size(); ++k) {
            const Schedule again = generate("v-half", shape, asked[k]);
            for (const auto& mine : answers) EXPECT_EQ(mine[k], again);
        }
    }
}

}  // namespace
}  // namespace debubble
