#include "schedule/replay/replay.h"

#include <cmath>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "schedule/generators/generators.h"
#include "schedule/generators/writer.h"

namespace debubble {
namespace {

constexpr std::array kShapes{PipelineShape{1, 1, 1}, PipelineShape{1, 1, 5}, PipelineShape{2, 1, 3},
                             PipelineShape{4, 1, 8}, PipelineShape{4, 1, 9}, PipelineShape{4, 1, 3},
                             PipelineShape{5, 1, 7}, PipelineShape{8, 1, 32}};

PipelineCosts unit_costs_with_link(double link) {
    PipelineCosts costs = unit_costs();
    costs.link = from_seconds(link);
    return costs;
}

double makespan(const Schedule& schedule, const PipelineCosts& costs) {
    return seconds(replay(schedule, costs).makespan);
}

TEST(Replay, GpipeAndOneFOneBEndWithTheSameBubble) {
    for (const PipelineShape& shape : kShapes) {
        const double expected = (shape.micro_batches + shape.ranks - 1) * 3;
        const double bubble = (shape.ranks - 1) * 3 / expected;
        for (const char* name : {"gpipe", "1f1b"}) {
            const Replay r = replay(generate(name, shape), unit_costs());
            EXPECT_DOUBLE_EQ(seconds(r.makespan), expected) << name;
            EXPECT_NEAR(r.bubble, bubble, 1e-12) << name;
            EXPECT_NEAR(r.span_bubble, bubble, 1e-12) << name << ": rank 0 spans the whole step";
        }
    }
}

TEST(Replay, GpipePaysEachLinkTwiceAndOneFOneBMoreWithEveryRound) {
    const double c = 0.1;
    for (const PipelineShape& shape : kShapes) {
        const int p = shape.ranks;
        const int m = shape.micro_batches;
        if (p == 1) continue;
        const double free = (m + p - 1) * 3;
        EXPECT_NEAR(makespan(generate("gpipe", shape), unit_costs_with_link(c)),
                    free + 2 * (p - 1) * c, 1e-9);
        const int rest = m % p;
        const int extra = rest == 0 ? 0 : std::max(1, rest - 1);
        EXPECT_NEAR(makespan(generate("1f1b", shape), unit_costs_with_link(c)),
                    free + 2 * c * ((p - 1) * (m / p) + extra + p - 2), 1e-9)
            << p << " ranks, " << m << " microbatches";
    }
}

TEST(Replay, CountsLiveActivations) {
    const PipelineShape shape{4, 1, 8};
    EXPECT_THAT(replay(generate("gpipe", shape), unit_costs()).peak_live_until_weight,
                testing::Each(8));
    EXPECT_THAT(replay(generate("1f1b", shape), unit_costs()).peak_live_until_weight,
                testing::ElementsAre(4, 3, 2, 1));
}

TEST(Replay, HoldsUntilWOnlyWhereAskedTo) {
    Schedule schedule = empty_schedule("split", {1, 1, 2});
    RankWriter(schedule.ranks[0])
        .forward(0, 0)
        .backward_input(0, 0)
        .forward(0, 1)
        .backward_input(0, 1)
        .backward_weight(0, 0)
        .backward_weight(0, 1);
    const Replay r = replay(schedule, unit_costs());
    EXPECT_EQ(r.peak_live_until_weight.front(), 2);
    EXPECT_EQ(r.peak_live_until_input.front(), 1);
    EXPECT_EQ(seconds(r.makespan), 6);
}

/// GPipe over slices: forwards in order, backwards in reverse within a microbatch.
Schedule sliced_gpipe(const PipelineShape& shape) {
    Schedule schedule = empty_schedule("sliced", shape);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        RankWriter list(schedule.ranks[rank]);
        const auto slices = static_cast<std::int16_t>(shape.slices);
        for (int mb = 0; mb < shape.micro_batches; ++mb)
            for (std::int16_t s = 0; s < slices; ++s) list.add(Pass::Forward, rank, {mb, s});
        for (int mb = 0; mb < shape.micro_batches; ++mb)
            for (std::int16_t s = slices; s-- > 0;) list.add(Pass::Backward, rank, {mb, s});
    }
    return schedule;
}

TEST(Replay, SlicesShrinkTheBubbleByTheirNumber) {
    for (const int k : {2, 3, 4, 7}) {
        const PipelineShape shape{4, 1, 5, k};
        const Replay r = replay(sliced_gpipe(shape), unit_costs());
        EXPECT_NEAR(seconds(r.makespan), 5 * 3 + 3 * 3.0 / k, 1e-7) << k;
        EXPECT_NEAR(r.peak_live_until_weight[0], 5, 1e-12);
    }
}

TEST(Replay, SlicesOfOneMicrobatchSumToItToTheNanosecond) {
    const Schedule schedule = sliced_gpipe({1, 1, 4, 7});
    EXPECT_EQ(replay(schedule, unit_costs()).makespan, std::chrono::seconds(12));
}

TEST(Replay, BackwardOfASliceNeedsThatOfTheNextOne) {
    Schedule schedule = empty_schedule("wrong", {1, 1, 1, 2});
    RankWriter list(schedule.ranks[0]);
    list.add(Pass::Forward, 0, {0, 0}).add(Pass::Forward, 0, {0, 1});
    list.add(Pass::Backward, 0, {0, 0}).add(Pass::Backward, 0, {0, 1});
    EXPECT_THROW(replay(schedule, unit_costs()), InputError);
}

TEST(Replay, OverlapTakesItsOwnTimeOrTheSumOfItsParts) {
    Schedule schedule = empty_schedule("overlap", {1, 1, 2});
    RankWriter(schedule.ranks[0])
        .forward(0, 0)
        .overlap({Pass::Forward, Stage{0}, {1, {}}}, {Pass::Backward, Stage{0}, {0, {}}})
        .backward(0, 1);
    PipelineCosts costs = unit_costs();
    EXPECT_EQ(makespan(schedule, costs), 6);
    costs.overlap = from_seconds(2.5);
    EXPECT_EQ(makespan(schedule, costs), 5.5);
    EXPECT_EQ(replay(schedule, costs).peak_live_until_weight.front(), 2) << "both are alive in it";
}

TEST(Replay, FollowsAMicrobatchOverTheHoldersThatComputeIt) {
    Schedule schedule = empty_schedule("two ways", {2, 1, 2}, bidirectional_placement(2));
    RankWriter(schedule.ranks[0]).forward(0, 0).forward(1, 1).backward(1, 1).backward(0, 0);
    RankWriter(schedule.ranks[1]).forward(0, 1).forward(1, 0).backward(1, 0).backward(0, 1);
    EXPECT_EQ(makespan(schedule, unit_costs_with_link(0.5)), 7) << "F, link, F, B, link, B";
}

TEST(Replay, TakesNoLinkBetweenStagesOfOneRank) {
    Schedule schedule = empty_schedule("v", {2, 2, 1}, v_placement(2));
    RankWriter(schedule.ranks[0]).forward(0, 0).forward(3, 0).backward(3, 0).backward(0, 0);
    RankWriter(schedule.ranks[1]).forward(1, 0).forward(2, 0).backward(2, 0).backward(1, 0);
    EXPECT_EQ(makespan(schedule, unit_costs_with_link(0.5)), 12 + 4 * 0.5);
}

TEST(Replay, UsesTheCostsOfEachStage) {
    PipelineCosts costs{{}, {}, {}};
    for (const double f : {1.0, 2.0})
        costs.stages.push_back({from_seconds(f), from_seconds(f), from_seconds(f)});
    EXPECT_EQ(makespan(generate("gpipe", {2, 1, 3}), costs), 1 + 3 * 2 + 3 * 4 + 2);
}

std::string error_of(const Schedule& schedule) {
    try {
        replay(schedule, unit_costs());
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Replay, NamesTheCycleOfADeadlock) {
    Schedule schedule = generate("gpipe", {2, 1, 1});
    std::swap(schedule.ranks[1][0], schedule.ranks[1][1]);
    EXPECT_EQ(error_of(schedule),
              "error: the order never finishes: rank 1 waits at 1B0 for the forward of stage 1, "
              "microbatch 0, which it lists later\n");

    Schedule crossed = empty_schedule("crossed", {2, 1, 2}, bidirectional_placement(2));
    RankWriter(crossed.ranks[0]).forward(1, 1).forward(0, 0);
    RankWriter(crossed.ranks[1]).forward(1, 0).forward(0, 1);
    EXPECT_EQ(error_of(crossed),
              "error: the order never finishes: rank 0 waits at 1F1 for the forward of stage 0, "
              "microbatch 1 on rank 1, which waits at 1F0 for the forward of stage 0, microbatch 0 "
              "on rank 0\n");
}

TEST(Replay, NamesWhatNoRankComputes) {
    Schedule schedule = generate("gpipe", {2, 1, 1});
    schedule.ranks[0].erase(schedule.ranks[0].begin());
    EXPECT_THAT(error_of(schedule),
                testing::HasSubstr("at 1F0 for the forward of stage 0, microbatch 0, which no rank "
                                   "computes"));
}

}  // namespace
}  // namespace debubble
