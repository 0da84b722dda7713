#include "trace/executed_order.h"

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "tests/sim/programs.h"

namespace debubble::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Trace played(const Program& program, const SimulateOptions& options = {}) {
    return simulate(program, DistinctCosts(), OneMebibyte(), options).trace;
}

TEST(ExecutedOrder, HoldsForWhatIsSimulatedOfEveryProgram) {
    for (const NamedProgram& p : small_programs())
        EXPECT_THAT(executed_in_order(p.program, played(p.program)), IsEmpty()) << p.name;
}

/// Two ranks, three microbatches, gradients reduced and tied: small enough to know.
class Corrupted : public testing::Test {
protected:
    Corrupted() {
        LowerOptions options;
        options.data_parallel = true;
        options.tied = {Stage{0}, Stage{1}};
        program_ = lower(generate("1f1b", {2, 1, 3, 1}), options);
        trace_ = played(program_);
    }

    Span& span(int rank, const std::string& action) {
        for (Span& span : trace_.spans)
            if (span.rank.index == rank && to_text(span.action) == action) return span;
        ADD_FAILURE() << "no " << action << " on rank " << rank;
        return trace_.spans.front();
    }
    void remove(int rank, const std::string& action) {
        trace_.spans.erase(trace_.spans.begin() + (&span(rank, action) - trace_.spans.data()));
    }
    void move(int rank, const std::string& action, Duration by) {
        span(rank, action).begin += by;
        span(rank, action).end += by;
    }
    std::vector<std::string> sentences(const OrderOptions& options = {}) const {
        return executed_in_order(program_, trace_, options);
    }

    Program program_;
    Trace trace_;
};

TEST_F(Corrupted, NotAtAllSaysNothing) {
    EXPECT_THAT(sentences(), IsEmpty());
}

TEST_F(Corrupted, AnActionIsMissing) {
    remove(1, "1B2");
    EXPECT_THAT(sentences(), ElementsAre("rank 1 never executed 1B2"));
}

TEST_F(Corrupted, AnActionRanTwice) {
    trace_.spans.push_back(span(0, "0B1"));
    EXPECT_THAT(sentences(), ElementsAre("rank 0 executed 0B1 2 times in 1 steps, 1 are listed"));
}

TEST_F(Corrupted, AnActionRanThatIsNotListed) {
    Span stranger = span(1, "1F0");
    stranger.action = Recompute{Stage{1}, {0, {}}};
    trace_.spans.push_back(stranger);
    EXPECT_THAT(sentences(),
                ElementsAre("rank 1 executed 1R0, which the program does not list for it"));
}

TEST_F(Corrupted, AMessageWentToAnotherRank) {
    std::get<Send>(span(0, "0SEND_F1").action).to = Rank{7};
    EXPECT_THAT(sentences(),
                ElementsAre("rank 0 never executed 0SEND_F1 to rank 1",
                            "rank 0 executed 0SEND_F1 to rank 7, which the program does not list "
                            "for it"));
}

TEST_F(Corrupted, TwoComputesChangedPlaces) {
    std::swap(span(0, "0F1").action, span(0, "0F2").action);
    EXPECT_THAT(sentences(),
                ElementsAre("rank 0 ran its computes in another order: 0F2 where the program "
                            "lists 0F1 (2 of 7)"));
}

TEST_F(Corrupted, TwoMessagesChangedPlaces) {
    std::swap(span(0, "0SEND_F0").action, span(0, "0SEND_F1").action);
    EXPECT_THAT(sentences(),
                ElementsAre("rank 0 ran its sends in another order: 0SEND_F1 to rank 1 where the "
                            "program lists 0SEND_F0 to rank 1 (1 of 3)"));
}

TEST_F(Corrupted, ARankRecordedNothing) {
    std::erase_if(trace_.spans, [](const Span& s) { return s.rank.index == 1; });
    EXPECT_THAT(sentences(), ElementsAre("nothing of rank 1 was recorded"));
}

TEST_F(Corrupted, ARankThatThereIsNot) {
    Span stranger = span(1, "1F0");
    stranger.rank = Rank{2};
    trace_.spans.push_back(stranger);
    EXPECT_THAT(sentences(), ElementsAre("rank 2 is not one of the program's 2 ranks"));
}

TEST_F(Corrupted, TwoComputesRanAtOnce) {
    span(0, "0F0").end += Duration{5};
    span(0, "0SEND_F0").begin += Duration{5};
    EXPECT_THAT(sentences(), ElementsAre("rank 0: 0F1 began 5 ns before 0F0 had ended"));
    trace_.header.clock_error = {Duration{5}, Duration{5}};
    EXPECT_THAT(sentences(), SizeIs(1)) << "computes of one rank have one clock";
}

TEST_F(Corrupted, AComputeBeganBeforeItsMessageWasThere) {
    span(1, "1RECV_F0").end += Duration{9};
    EXPECT_THAT(sentences(),
                ElementsAre("rank 1: 1F0 began 9 ns before 1RECV_F0 from rank 0 had ended"));
}

TEST_F(Corrupted, AMessageWasSentBeforeItWasMade) {
    span(1, "1SEND_B0").begin -= Duration{4};
    EXPECT_THAT(sentences(),
                ElementsAre("rank 1: 1SEND_B0 to rank 0 began 4 ns before 1B0 had ended"));
}

TEST_F(Corrupted, AMessageArrivedBeforeItWasSent) {
    const Duration length = span(0, "0SEND_F0").length();
    move(0, "0SEND_F0", length + Duration{6});
    EXPECT_THAT(sentences(), ElementsAre("rank 1: 1RECV_F0 from rank 0 had ended 6 ns before "
                                         "0SEND_F0 to rank 1 on rank 0 began"));
    trace_.header.clock_error.lanes = Duration{6};
    EXPECT_THAT(sentences(), SizeIs(1)) << "of two ranks";
    trace_.header.clock_error.ranks = Duration{6};
    EXPECT_THAT(sentences(), IsEmpty()) << "two clocks";
}

TEST_F(Corrupted, AMessageLostBytes) {
    span(1, "1RECV_F2").bytes = Bytes{4095};
    EXPECT_THAT(sentences(), ElementsAre("rank 1: 1RECV_F2 from rank 0 brought 4095 bytes, "
                                         "0SEND_F2 to rank 1 on rank 0 sent 4096"));
}

TEST_F(Corrupted, AGradientWasReducedBeforeItWasThere) {
    const Duration early = span(0, "0REDUCE_GRAD").begin - span(0, "0B2").end + Duration{2};
    span(0, "0REDUCE_GRAD").begin -= early;
    EXPECT_THAT(sentences(), ElementsAre("rank 0: 0REDUCE_GRAD began 2 ns before 0B2 had ended"));
    trace_.header.clock_error.ranks = Duration{2};
    EXPECT_THAT(sentences(), SizeIs(1)) << "of one rank";
    trace_.header.clock_error.lanes = Duration{2};
    EXPECT_THAT(sentences(), IsEmpty()) << "by the host's clock, and by the device's";
}

TEST_F(Corrupted, TheOptimizerDidNotWait) {
    span(1, "GRAD_NORM").end += Duration{3};
    EXPECT_THAT(sentences(),
                ElementsAre("rank 1: OPTIMIZER_STEP began 3 ns before GRAD_NORM had ended"));
}

TEST_F(Corrupted, AnotherProgramIsNamed) {
    trace_.header.program_hash = std::string(64, 'a');
    EXPECT_THAT(sentences(), ElementsAre("the trace is of program aaaaaaaaaaaa, not of " +
                                         program_hash(program_).substr(0, 12)));
}

TEST_F(Corrupted, MemoryIsNotAsPlanned) {
    OrderOptions plan;
    plan.planned_peaks = {Bytes{1 << 20}, Bytes{1 << 20}};
    EXPECT_THAT(sentences(plan), IsEmpty());
    trace_.peaks[1].held[0] = Bytes{1'100'000};
    trace_.peaks[1].action = "1F0";
    EXPECT_THAT(sentences(plan), ElementsAre("rank 1 held 1100000 bytes at its peak, in 1F0; "
                                             "1048576 were planned"));
    trace_.peaks.pop_back();
    EXPECT_THAT(sentences(plan), ElementsAre("memory peaks of 1 ranks are recorded, 2 were "
                                             "planned"));
}

TEST_F(Corrupted, OneReplicaOfTwo) {
    trace_.header.folded = false;
    const std::vector<Span> one = trace_.spans;
    for (Span span : one) {
        span.replica = 1;
        trace_.spans.push_back(span);
    }
    EXPECT_THAT(sentences(), IsEmpty());
    trace_.spans.pop_back();
    EXPECT_THAT(sentences(), ElementsAre(testing::StartsWith("rank 1 of replica 1 never ")));
}

TEST_F(Corrupted, OneStepOfThree) {
    const Duration period = trace_.header.step_time.value();
    const std::vector<Span> one = trace_.spans;
    for (const int step : {1, 2})
        for (Span span : one) {
            span.begin += step * period;
            span.end += step * period;
            trace_.spans.push_back(span);
        }
    EXPECT_THAT(sentences(), IsEmpty());
    remove(0, "0B1");
    EXPECT_THAT(sentences(), ElementsAre("rank 0 executed 0B1 2 times in 3 steps, 3 are listed"));
}

TEST_F(Corrupted, EverythingSaysAtMostFiftySentences) {
    trace_.spans.clear();
    for (int i = 0; i < 100; ++i)
        trace_.spans.push_back({Rank{0}, 0, Lane::Collective, Unshard{Stage{i}}, {}, {}, {}, {}});
    const auto said = sentences();
    ASSERT_EQ(said.size(), kMostSentences + 1);
    EXPECT_THAT(said.back(), testing::MatchesRegex("and at least [0-9]+ more"));
}

/// Sizes that a hostile trace names must not become memory or time.
TEST_F(Corrupted, AMillionTimesOverIsStillOnlySaid) {
    const Span one = span(0, "0F0");
    for (int i = 0; i < 200'000; ++i) {
        trace_.spans.push_back(one);
        trace_.spans.back().replica = i;
    }
    EXPECT_EQ(sentences().size(), kMostSentences + 1);
    trace_.spans.assign(1'000'000, one);
    EXPECT_FALSE(sentences().empty());
}

TEST(ExecutedOrder, SaysWhenAGatherOrACopyCameLate) {
    for (const NamedProgram& p : small_programs()) {
        if (p.name != "1f1b p2 v1 m4 k1, everything") continue;
        Trace trace = played(p.program);
        const auto at = [&](const char* text) {
            return std::ranges::find_if(trace.spans,
                                        [&](const Span& s) { return to_text(s.action) == text; });
        };
        at("0RELOAD0")->end = at("0B0")->begin + Duration{1};
        EXPECT_THAT(executed_in_order(p.program, trace),
                    ElementsAre("rank 0: 0B0 began 1 ns before 0RELOAD0 had ended"));
        trace = played(p.program);
        at("0UNSHARD")->end = at("0F0")->begin + Duration{1};
        EXPECT_THAT(executed_in_order(p.program, trace),
                    testing::Contains("rank 0: 0F0 began 1 ns before 0UNSHARD had ended"));
        return;
    }
    FAIL() << "the program is not among them";
}

}  // namespace
}  // namespace debubble::sim
