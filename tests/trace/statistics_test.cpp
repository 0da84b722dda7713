#include "trace/statistics.h"

#include <random>

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/trace/trace_of.h"

namespace debubble {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;

Instant at_ns(std::int64_t ns) {
    return Instant{nanoseconds(ns)};
}

Compute compute(Pass pass, int stage, int mb) {
    return {pass, Stage{stage}, {mb, {}}};
}

Span span(int rank, Lane lane, Action action, std::int64_t begin, std::int64_t end) {
    return {Rank{rank}, 0, lane, std::move(action), at_ns(begin), at_ns(end), {}, {}};
}

Trace trace_with(std::vector<Span> spans) {
    Trace trace;
    trace.spans = std::move(spans);
    std::ranges::stable_sort(trace.spans, {},
                             [](const Span& s) { return std::tuple(s.begin, s.rank, s.lane); });
    return trace;
}

std::vector<std::string> bubbles_of(const Statistics& s, int rank) {
    std::vector<std::string> out;
    for (const Bubble& b : s.bubbles)
        if (b.rank.index == rank)
            out.push_back(std::string(name_of(b.cause)) + " " +
                          std::to_string(b.begin.time_since_epoch().count()) + "-" +
                          std::to_string(b.end.time_since_epoch().count()));
    return out;
}

PipelineCosts random_step_costs(int stages, std::mt19937& random) {
    std::uniform_int_distribution<std::int64_t> cost(1, 1000);
    PipelineCosts costs;
    for (int s = 0; s < stages; ++s)
        costs.stages.push_back(
            {nanoseconds(cost(random)), nanoseconds(cost(random)), nanoseconds(cost(random))});
    costs.link = nanoseconds(cost(random) / 4 * (cost(random) % 2));
    return costs;
}

struct RandomTrace {
    Schedule schedule;
    PipelineCosts costs;
    Trace trace;
};

/// Every generator that the shape suits, with random costs.
std::vector<RandomTrace> make_random_traces() {
    std::mt19937 random(7);
    std::vector<RandomTrace> traces;
    for (const PipelineShape shape :
         {PipelineShape{1, 1, 3}, PipelineShape{2, 1, 5}, PipelineShape{4, 1, 8},
          PipelineShape{4, 2, 8}, PipelineShape{6, 1, 13}, PipelineShape{8, 2, 16}})
        for (const Generator& generator : generators()) {
            if (generator.why_not(shape, {})) continue;
            const Schedule schedule = generator.make(shape, {});
            const PipelineCosts costs = random_step_costs(schedule.stage_count(), random);
            traces.push_back({schedule, costs, trace_of(schedule, costs)});
        }
    return traces;
}

template <class Check>
void for_random_traces(Check&& check) {
    static const std::vector<RandomTrace> traces = make_random_traces();  // some search for long
    for (const RandomTrace& t : traces) {
        SCOPED_TRACE(t.schedule.name + " on " + std::to_string(t.schedule.shape.ranks) + " ranks");
        check(t.schedule, t.costs, t.trace);
    }
}

TEST(Statistics, AgreeWithTheReplayOfTheSameOrder) {
    for_random_traces([](const Schedule& schedule, const PipelineCosts& costs, const Trace& trace) {
        const Replay expected = replay(schedule, costs);
        const Statistics s = statistics(trace);
        EXPECT_EQ(s.makespan, expected.makespan);
        EXPECT_NEAR(s.bubble, expected.bubble, 1e-12);
        EXPECT_NEAR(s.span_bubble, expected.span_bubble, 1e-12);
    });
}

TEST(Statistics, EveryNanosecondOfARankIsCountedOnce) {
    for_random_traces([](const Schedule&, const PipelineCosts&, const Trace& trace) {
        const Statistics s = statistics(trace);
        Duration all_bubbles{};
        for (const Bubble& b : s.bubbles) {
            EXPECT_LT(b.begin, b.end);
            all_bubbles += b.end - b.begin;
            for (const Span& other : trace.spans) {
                const bool same = other.rank == b.rank && other.lane == Lane::Compute;
                EXPECT_TRUE(!same || other.end <= b.begin || other.begin >= b.end)
                    << "a bubble lies beside the computes";
            }
        }
        Duration all_idle{};
        for (const RankStatistics& r : s.ranks) {
            EXPECT_EQ(r.busy + r.exposed + r.optimizer + r.idle, s.step);
            Duration by_cause{};
            for (const Duration d : r.idle_by_cause) by_cause += d;
            EXPECT_EQ(by_cause, r.idle);
            all_idle += r.idle;
        }
        EXPECT_EQ(all_bubbles, all_idle);
    });
}

TEST(Statistics, TheIdleTimeInsideTheMakespanIsTheBubble) {
    for_random_traces([](const Schedule& schedule, const PipelineCosts&, const Trace& trace) {
        const Statistics s = statistics(trace);
        double idle = 0;
        for (const Bubble& b : s.bubbles) idle += seconds(b.end - b.begin);
        EXPECT_NEAR(idle, s.bubble * schedule.shape.ranks * seconds(s.makespan), 1e-12);
    });
}

TEST(Statistics, TheCriticalPathFillsTheStepWithoutAGap) {
    for_random_traces([](const Schedule&, const PipelineCosts&, const Trace& trace) {
        const Statistics s = statistics(trace);
        Instant reached{};
        for (const std::size_t i : s.critical_path) {
            EXPECT_LE(trace.spans[i].begin, reached) << "nothing waits for nothing";
            reached = std::max(reached, trace.spans[i].end);
        }
        EXPECT_EQ(reached - Instant{}, s.step);
    });
}

TEST(Statistics, ABubbleOfThePipelineIsWarmUpCoolDownOrHasAnEarlierCause) {
    for_random_traces([](const Schedule&, const PipelineCosts& costs, const Trace& trace) {
        for (const Bubble& b : statistics(trace).bubbles) {
            EXPECT_NE(b.cause, BubbleCause::Launch)
                << "every compute of a replay waits for another";
            EXPECT_NE(b.cause, BubbleCause::Optimizer);
            EXPECT_TRUE(b.cause != BubbleCause::Link || b.end - b.begin <= costs.link);
        }
    });
}

TEST(Statistics, TellsWaitingForAStageFromWaitingForALink) {
    PipelineCosts costs = unit_costs(nanoseconds(10));
    costs.link = nanoseconds(4);
    const Statistics s = statistics(trace_of(generate("gpipe", {2, 1, 1}), costs));
    EXPECT_EQ(s.step, nanoseconds(68));
    EXPECT_THAT(bubbles_of(s, 0), ElementsAre("stage 10-44", "link 44-48"));
    EXPECT_THAT(bubbles_of(s, 1), ElementsAre("warm-up 0-14", "cool-down 44-68"));
}

TEST(Statistics, NamesTheSpanThatABubbleWaitedFor) {
    const Trace trace = trace_of(generate("gpipe", {2, 1, 1}), unit_costs(nanoseconds(10)));
    const Statistics s = statistics(trace);
    ASSERT_FALSE(s.bubbles.empty());
    EXPECT_EQ(to_text(trace.spans[s.bubbles.front().waited_for].action), "1B0");
}

/// Two ranks at the end of a step: rank 1 is done early, rank 0 reduces its
/// gradients in the open, both meet for the norm.
Trace end_of_step() {
    return trace_with({
        span(0, Lane::Compute, compute(Pass::Backward, 0, 0), 0, 100),
        span(1, Lane::Compute, compute(Pass::Backward, 1, 0), 0, 60),
        span(0, Lane::Collective, ReduceGrad{Stage{0}}, 100, 130),
        span(1, Lane::Collective, ReduceGrad{Stage{1}}, 50, 70),
        span(0, Lane::Collective, GradNorm{}, 130, 135),
        span(1, Lane::Collective, GradNorm{}, 70, 135),
        span(0, Lane::Compute, OptimizerStep{}, 135, 155),
        span(1, Lane::Compute, OptimizerStep{}, 135, 150),
    });
}

TEST(Statistics, ACollectiveThatNothingHidesIsExposedOnceAllHaveJoined) {
    const Statistics s = statistics(end_of_step());
    EXPECT_EQ(s.makespan, nanoseconds(100));
    EXPECT_EQ(s.step, nanoseconds(155));
    ASSERT_EQ(s.ranks.size(), 2U);
    EXPECT_EQ(s.ranks[0].busy, nanoseconds(100));
    EXPECT_EQ(s.ranks[0].exposed, nanoseconds(35));
    EXPECT_EQ(s.ranks[0].optimizer, nanoseconds(20));
    EXPECT_EQ(s.ranks[0].idle, nanoseconds(0));
    EXPECT_EQ(s.ranks[1].exposed, nanoseconds(10 + 5)) << "ten of the reduction were hidden";
    EXPECT_EQ(s.ranks[1].optimizer, nanoseconds(15));
    EXPECT_THAT(bubbles_of(s, 1), ElementsAre("cool-down 70-100", "optimizer barrier 100-130",
                                              "optimizer barrier 150-155"));
    EXPECT_DOUBLE_EQ(s.bubble, 1 - 160.0 / 200);
}

TEST(Statistics, TheCriticalPathCrossesCollectivesThroughTheLastToJoin) {
    const Trace trace = end_of_step();
    std::vector<std::string> path;
    for (const std::size_t i : statistics(trace).critical_path)
        path.push_back(std::to_string(trace.spans[i].rank.index) + ":" +
                       to_text(trace.spans[i].action));
    EXPECT_THAT(path, ElementsAre("0:0B0", "0:0REDUCE_GRAD", "0:GRAD_NORM", "0:OPTIMIZER_STEP"));
}

TEST(Statistics, WaitingForAGatherIsACollectiveBubbleUntilItRuns) {
    Trace trace = trace_with({
        span(0, Lane::Compute, compute(Pass::Forward, 0, 0), 0, 10),
        span(0, Lane::Collective, Unshard{Stage{1}}, 15, 25),
        span(0, Lane::Compute, compute(Pass::Forward, 1, 0), 28, 40),
    });
    const Statistics s = statistics(trace);
    EXPECT_THAT(bubbles_of(s, 0), ElementsAre("collective 10-15", "launch 25-28"));
    EXPECT_EQ(s.ranks[0].exposed, nanoseconds(10));
}

TEST(Statistics, CommunicationInsideAComputeIsExposedAndStillFillsTheMakespan) {
    Trace trace = trace_with({span(0, Lane::Compute, compute(Pass::Forward, 0, 0), 0, 10)});
    trace.spans[0].exposed = nanoseconds(3);
    const Statistics s = statistics(trace);
    EXPECT_EQ(s.ranks[0].busy, nanoseconds(7));
    EXPECT_EQ(s.ranks[0].exposed, nanoseconds(3));
    EXPECT_EQ(s.bubble, 0);
}

TEST(Statistics, ReportTheReplicaThatIdlesLeast) {
    Trace trace = trace_with({span(0, Lane::Compute, compute(Pass::Forward, 0, 0), 0, 10),
                              span(0, Lane::Compute, compute(Pass::Forward, 0, 0), 0, 16)});
    trace.spans[1].replica = 1;
    const Statistics s = statistics(trace);
    ASSERT_EQ(s.ranks.size(), 1U);
    EXPECT_EQ(s.ranks[0].replica, 1);
    EXPECT_TRUE(s.bubbles.empty());
    EXPECT_DOUBLE_EQ(s.bubble, 1 - 26.0 / 32) << "of all replicas";
}

TEST(Statistics, CountOverlappingComputesOfAForeignTraceOnce) {
    const Trace trace = trace_with({span(0, Lane::Compute, compute(Pass::Forward, 0, 0), 0, 10),
                                    span(0, Lane::Compute, compute(Pass::Forward, 0, 1), 5, 12)});
    const Statistics s = statistics(trace);
    EXPECT_EQ(s.ranks[0].busy, nanoseconds(12));
    EXPECT_EQ(s.bubble, 0);
}

TEST(Statistics, OfNothingAreNothing) {
    const Statistics s = statistics({});
    EXPECT_EQ(s.step, Duration{});
    EXPECT_TRUE(s.ranks.empty());
    EXPECT_TRUE(s.critical_path.empty());
}

}  // namespace
}  // namespace debubble
