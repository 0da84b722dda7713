#include "trace/core_share.h"

#include <gmock/gmock.h>

namespace debubble {
namespace {

using testing::HasSubstr;

Span pass(int rank, int length, int on_core, int exposed = 0, int replica = 0) {
    Span span;
    span.rank = Rank{rank};
    span.replica = replica;
    span.action = Compute{Pass::Forward, Stage{rank}, MicroBatch{}};
    span.end = Instant{Duration{length}};
    span.exposed = Duration{exposed};
    span.on_core = Duration{on_core};
    return span;
}

Trace trace_of(std::vector<Span> spans) {
    Trace trace;
    trace.spans = std::move(spans);
    return trace;
}

TEST(CoreShare, IsThatOfAllPassesOfARank) {
    const std::vector<CoreShare> shares =
        core_shares(trace_of({pass(0, 100, 50), pass(1, 100, 100), pass(0, 300, 190)}));
    ASSERT_EQ(shares.size(), 2U);
    EXPECT_EQ(shares[0].rank, Rank{0});
    EXPECT_DOUBLE_EQ(shares[0].share, 0.6);
    EXPECT_DOUBLE_EQ(shares[1].share, 1);
}

TEST(CoreShare, CountsNoWaitForOtherRanks) {
    EXPECT_EQ(busy_machine(trace_of({pass(0, 1000, 98, 900)})), "");
    EXPECT_DOUBLE_EQ(*core_share(std::vector{pass(0, 1000, 50, 900)}), 0.5);
}

TEST(CoreShare, IsNotKnownOfComputesThatTellNoProcessorTime) {
    EXPECT_EQ(core_share(std::vector{pass(0, 100, 0)}), std::nullopt);
    EXPECT_TRUE(core_shares(trace_of({pass(0, 100, 0)})).empty());
    EXPECT_EQ(busy_machine(trace_of({pass(0, 100, 0)})), "");
}

TEST(BusyMachine, IsSaidOfTheRankThatWasWorstOff) {
    Trace trace = trace_of({pass(0, 100, 99), pass(1, 100, 58), pass(2, 100, 60)});
    EXPECT_EQ(busy_machine(trace),
              "rank 1's threads had a core for 58 % of the time that they computed: repeat on an "
              "idle machine");
    trace = trace_of({pass(0, 100, 99), pass(0, 100, 58, 0, 3)});
    trace.header.folded = false;
    EXPECT_THAT(busy_machine(trace), HasSubstr("rank 0 of replica 3's threads"));
}

TEST(BusyMachine, IsNotSaidOfAMachineThatIsNot) {
    EXPECT_EQ(busy_machine({}), "");
    EXPECT_EQ(busy_machine(trace_of({pass(0, 1000, 951), pass(1, 1000, 1003)})), "");
    EXPECT_NE(busy_machine(trace_of({pass(0, 1000, 949)})), "");
}

/// Four threads on two cores have a core for half of the time, though nobody else is there.
TEST(BusyMachine, IsNotSaidWhereTheJobsOwnThreadsOutnumberTheCores) {
    Trace trace = trace_of({pass(0, 100, 50), pass(1, 100, 61)});
    EXPECT_NE(busy_machine(trace), "");
    trace.header.cores_per_thread = 0.5;
    EXPECT_EQ(busy_machine(trace), "");
    trace.spans[0].on_core = Duration{40};
    EXPECT_THAT(busy_machine(trace), HasSubstr("40 % of the time that they computed (the host has "
                                               "0.5 for each of the job's threads): repeat"));
}

}  // namespace
}  // namespace debubble
