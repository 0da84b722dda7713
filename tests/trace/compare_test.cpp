#include "trace/compare.h"

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/trace/trace_of.h"
#include "trace/span_graph.h"
#include "trace/steps.h"

namespace debubble {
namespace {

using std::chrono::nanoseconds;

/// ZB-H1 over four ranks, eight microbatches: F = I = W = 1000 ns, links 70 ns.
Trace zb_h1() {
    PipelineCosts costs = unit_costs(nanoseconds{1000});
    costs.link = nanoseconds{70};
    Trace trace = trace_of(generate("zb-h1", {4, 1, 8, 1}), costs);
    trace.header.program_hash = "cafe";
    return trace;
}

const ErrorRow& row(const std::vector<ErrorRow>& rows, std::string_view name) {
    const auto found = std::ranges::find(rows, name, &ErrorRow::name);
    if (found == rows.end()) throw std::out_of_range(std::string(name));
    return *found;
}

TEST(Compare, OfATraceWithItselfHasNoError) {
    const Trace trace = zb_h1();
    ASSERT_EQ(why_not_comparable(trace, trace), std::nullopt);
    const Comparison c = compare(trace, trace);
    EXPECT_EQ(c.step.simulated.step_time, c.step.executed.step_time);
    EXPECT_EQ(c.step.simulated.idle_by_cause, c.step.executed.idle_by_cause);
    ASSERT_EQ(c.ranks.size(), 4U);
    for (const RankComparison& rank : c.ranks) {
        EXPECT_EQ(rank.figures.simulated.busy, nanoseconds{24'000});
        EXPECT_EQ(rank.figures.executed.busy, nanoseconds{24'000});
        EXPECT_EQ(rank.figures.simulated.place, rank.figures.executed.place);
    }
    EXPECT_EQ(row(c.kinds, "F").count, 32U);
    EXPECT_EQ(row(c.kinds, "SEND").count, 48U);
    EXPECT_EQ(row(c.stages, "stage 3").count, 24U);
    for (const auto* rows : {&c.kinds, &c.stages})
        for (const ErrorRow& r : *rows) {
            EXPECT_EQ(r.mean_error(), 0.0) << r.name;
            EXPECT_EQ(r.bias(), 0.0) << r.name;
        }
    EXPECT_TRUE(c.worst.empty());
    EXPECT_EQ(c.unmatched.simulated + c.unmatched.executed, 0U);
}

TEST(Compare, ShowsThatOneStageWasATenthSlower) {
    PipelineCosts costs = unit_costs(nanoseconds{1000});
    costs.stages.assign(4, costs.stages.front());
    costs.stages[2] = {nanoseconds{1100}, nanoseconds{1100}, nanoseconds{1100}};
    costs.link = nanoseconds{70};
    Trace executed = trace_of(generate("zb-h1", {4, 1, 8, 1}), costs);
    executed.header.program_hash = "cafe";
    const Comparison c = compare(zb_h1(), executed);
    for (const int stage : {0, 1, 3})
        EXPECT_EQ(row(c.stages, "stage " + std::to_string(stage)).mean_error(), 0.0);
    EXPECT_DOUBLE_EQ(*row(c.stages, "stage 2").mean_error(), 0.1 / 1.1);
    EXPECT_DOUBLE_EQ(*row(c.stages, "stage 2").bias(), 1 / 1.1 - 1);
    for (const char* kind : {"F", "I", "W"})  // one of four stages
        EXPECT_DOUBLE_EQ(*row(c.kinds, kind).bias(), 4000 / 4100.0 - 1) << kind;
    EXPECT_EQ(row(c.kinds, "SEND").bias(), 0.0);
    ASSERT_EQ(c.worst.size(), kMostWorst);
    for (const ActionDifference& d : c.worst) {
        EXPECT_EQ(d.rank, Rank{2});
        EXPECT_EQ(d.length.executed - d.length.simulated, nanoseconds{100});
    }
    EXPECT_EQ(c.ranks[2].figures.executed.place, 1) << "now the busiest";
    EXPECT_EQ(c.ranks[2].figures.simulated.place, 3);
}

TEST(Compare, AddsUpEveryRanksStep) {
    Trace trace = zb_h1();
    trace.header.step_time = nanoseconds{26'000};  // steps that overlap
    const Comparison c = compare(trace, zb_h1());
    Duration idle{};
    for (const RankComparison& rank : c.ranks) {
        const RankFigures& f = rank.figures.simulated;
        EXPECT_EQ(f.busy + f.exposed + f.optimizer + f.idle, nanoseconds{26'000});
        idle += f.idle;
    }
    Duration by_cause{};
    for (const Duration d : c.step.simulated.idle_by_cause) by_cause += d;
    EXPECT_NEAR(seconds(by_cause), seconds(idle), 5e-9);
}

/// What a step is longer than its actions passes between them, on no rank's account but the host's.
TEST(Compare, CallsTheTimeBetweenStepsTheHosts) {
    Trace trace = zb_h1();
    trace.header.step_time = statistics(trace).step + nanoseconds{5'000};
    const Comparison c = compare(zb_h1(), trace);
    const auto launch = static_cast<std::size_t>(BubbleCause::Launch);
    for (std::size_t cause = 0; cause < kBubbleCauses; ++cause)
        EXPECT_EQ(c.step.executed.idle_by_cause[cause] - c.step.simulated.idle_by_cause[cause],
                  cause == launch ? 4 * nanoseconds{5'000} : nanoseconds{})
            << name_of(static_cast<BubbleCause>(cause));
}

TEST(Compare, CountsAMessageFromWhenBothEndsWereThere) {
    Trace waited = zb_h1();
    for (Span& span : waited.spans)
        if (std::holds_alternative<Recv>(span.action)) span.begin -= nanoseconds{500};
    const Comparison c = compare(zb_h1(), waited);
    EXPECT_EQ(row(c.kinds, "RECV").mean_error(), 0.0);
    EXPECT_EQ(row(c.kinds, "SEND").mean_error(), 0.0);
}

TEST(Compare, CountsWhatOnlyOneSideHolds) {
    Trace less = zb_h1();
    std::erase_if(less.spans, [](const Span& s) { return to_text(s.action) == "1F3"; });
    EXPECT_EQ(compare(zb_h1(), less).unmatched, (Compared<std::size_t>{1, 0}));
    EXPECT_EQ(compare(less, zb_h1()).unmatched, (Compared<std::size_t>{0, 1}));
}

TEST(Compare, TakesTheReplicaThatIdlesLeast) {
    Trace two = zb_h1();
    two.header.folded = false;
    for (Span span : zb_h1().spans) {
        span.replica = 1;
        if (std::holds_alternative<Compute>(span.action)) span.begin -= nanoseconds{30};
        two.spans.push_back(span);
    }
    std::ranges::stable_sort(two.spans, {}, &Span::begin);
    const Comparison c = compare(zb_h1(), two);
    for (const RankComparison& rank : c.ranks) EXPECT_EQ(rank.figures.executed.replica, 1);
    EXPECT_EQ(row(c.kinds, "F").count, 32U) << "of one replica";
    EXPECT_NEAR(*row(c.kinds, "F").bias(), 1000 / 1030.0 - 1, 1e-12);
}

TEST(Compare, ShowsThePeakOfBothSides) {
    Trace trace = zb_h1();
    EXPECT_FALSE(compare(trace, trace).ranks[1].figures.simulated.peak);
    trace.peaks.resize(4);
    trace.peaks[1].held[3] = Bytes{77};
    EXPECT_EQ((*compare(trace, zb_h1()).ranks[1].figures.simulated.peak)[3], Bytes{77});
    EXPECT_FALSE(compare(trace, zb_h1()).ranks[1].figures.executed.peak);
}

TEST(Compare, RefusesTracesOfDifferentPrograms) {
    Trace other = zb_h1();
    other.header.program_hash = "0123456789abcdef";
    other.header.scenario = "other";
    EXPECT_EQ(why_not_comparable(zb_h1(), other),
              "the traces are of different programs: cafe (zb-h1) and 0123456789ab (other)");
    other.header.program_hash.clear();
    EXPECT_EQ(why_not_comparable(other, other),
              "the traces are of different programs: without a hash (other) and without a hash "
              "(other)");
    other = zb_h1();
    other.spans.clear();
    EXPECT_EQ(why_not_comparable(zb_h1(), other), "the second trace holds no action");
}

/// zb_h1() `lengths.size()` times, stretched to `lengths` times its length, ten apart.
Trace repeated(const std::vector<int>& lengths) {
    Trace out = zb_h1();
    const std::vector<Span> spans = std::move(out.spans);
    out.spans.clear();
    Duration at{};
    for (const int length : lengths) {
        Duration last{};
        for (Span span : spans) {
            span.begin = Instant{at + length * span.begin.time_since_epoch()};
            span.end = Instant{at + length * span.end.time_since_epoch()};
            last = std::max(last, span.end.time_since_epoch());
            out.spans.push_back(span);
        }
        at = last + Duration{10};
    }
    return out;
}

TEST(Steps, AreCountedByTheirComputes) {
    EXPECT_EQ(steps_in({}), 0);
    EXPECT_EQ(steps_in(zb_h1()), 1);
    EXPECT_EQ(steps_in(repeated({1, 1, 1})), 3);
}

TEST(Steps, HaveAMedian) {
    const Trace trace = repeated({5, 1, 2, 3, 9});
    const Trace median = median_step(trace);
    EXPECT_EQ(median.spans.size(), zb_h1().spans.size());
    EXPECT_EQ(statistics(median).makespan, 3 * statistics(zb_h1()).makespan);
    const Duration one = statistics(zb_h1()).step;
    EXPECT_EQ(median.header.step_time, 2 * one + Duration{10})
        << "distances 1, 2, 3 and 9: the shorter middle one";
    EXPECT_EQ(median_step(zb_h1()), zb_h1());
}

TEST(Steps, KeepActionsThatOccurSeveralTimesInEach) {
    Trace trace = repeated({1, 1, 1});
    const Instant begin = trace.spans.front().begin;
    const Duration step = statistics(zb_h1()).step + Duration{10};
    for (int k = 0; k < 6; ++k)  // two reductions in each step
        trace.spans.push_back({Rank{0},
                               0,
                               Lane::Collective,
                               ReduceGrad{Stage{0}},
                               begin + k / 2 * step + Duration{k % 2 * 100},
                               begin + k / 2 * step + Duration{k % 2 * 100 + 50},
                               {},
                               {}});
    std::ranges::stable_sort(trace.spans, {}, &Span::begin);
    const Trace median = median_step(trace);
    EXPECT_EQ(std::ranges::count(median.spans, Action{ReduceGrad{Stage{0}}}, &Span::action), 2);
}

TEST(NetLength, LeavesOutTheWaitForAPeer) {
    const Message m{Message::Kind::Activation, Stage{0}, {0, {}}};
    const auto at = [](int ns) { return Instant{Duration{ns}}; };
    const auto lengths = [&](Instant send, Instant sent, Instant recv, Instant received) {
        Trace trace;
        trace.spans = {{Rank{0}, 0, Lane::Send, Send{m, Rank{1}}, send, sent, {}, {}},
                       {Rank{1}, 0, Lane::Recv, Recv{m, Rank{0}}, recv, received, {}, {}}};
        return net_lengths(SpanGraph(trace));
    };
    using testing::ElementsAre;
    EXPECT_THAT(lengths(at(10), at(15), at(2), at(15)), ElementsAre(Duration{5}, Duration{5}));
    EXPECT_THAT(lengths(at(10), at(40), at(30), at(40)), ElementsAre(Duration{10}, Duration{10}));
    EXPECT_THAT(lengths(at(10), at(12), at(30), at(33)), ElementsAre(Duration{2}, Duration{3}))
        << "a buffered send waits for nobody";
}

TEST(NetLength, CountsACollectiveFromItsLastMember) {
    const auto at = [](int ns) { return Instant{Duration{ns}}; };
    Trace trace;
    trace.spans = {{Rank{0}, 0, Lane::Collective, GradNorm{}, at(0), at(60), {}, {}},
                   {Rank{1}, 0, Lane::Collective, GradNorm{}, at(50), at(61), {}, {}}};
    EXPECT_THAT(net_lengths(SpanGraph(trace)), testing::ElementsAre(Duration{10}, Duration{11}));
}

}  // namespace
}  // namespace debubble
