#include "exec/core/communicator/decorators.h"

#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "tests/exec/support/comm/comm_checks.h"
#include "tests/exec/support/comm/comm_conformance.h"

namespace debubble::exec {
namespace {

class MutedCommunicator : public testing::TestWithParam<ConformanceCase> {};

TEST_P(MutedCommunicator, KeepsThePromiseWhileItIsNotMuted) {
    EXPECT_NO_THROW(run_local(2, Transport::Own, [&](Communicator& world) {
        const bool muted = false;
        GetParam().body(*muted_while(muted, world));
    }));
}

INSTANTIATE_TEST_SUITE_P(Conformance, MutedCommunicator, testing::ValuesIn(conformance_cases()),
                         [](const auto& each) { return each.param.name; });

/// Rank 0 asks while the other rank does something else; then both go on as before.
TEST(MutedCommunicator, AsksNobodyWhileItIsMuted) {
    run_local(2, Transport::Own, [](Communicator& world) {
        bool muted = world.rank() == 0;
        const auto maybe = muted_while(muted, world);
        const auto group = maybe->group(world.ranks());
        int values[2] = {7, 8};
        const Buffer both = buffer_of(std::span<int>(values)),
                     one = buffer_of(std::span<int>(values, 1));
        if (muted) {
            const Channel other{1, Message::Kind::Activation};
            for (const Pending& pending :
                 {maybe->send(other, one, "0SEND_F0"), maybe->receive(other, one, "0RECV_B0"),
                  group->all_reduce(both, Reduction::Sum, "SUM"),
                  group->all_gather(one, both, "GATHER"),
                  group->reduce_scatter(both, one, Reduction::Sum, "SCATTER"),
                  group->all_to_all(std::vector<ConstBuffer>{one, one},
                                    std::vector<Buffer>{one, one}, "DISPATCH"),
                  group->reduce_scatter_uneven(std::vector<ConstBuffer>{one, one}, one,
                                               Reduction::Sum, "SCATTER"),
                  group->broadcast(both, 1, "BROADCAST"), group->barrier("BARRIER")}) {
                EXPECT_TRUE(pending->done());
                const Interval when = pending->wait(within(std::chrono::seconds(0)));
                EXPECT_EQ(when.begin, when.end);
            }
            EXPECT_EQ(values[0], 7);
            EXPECT_EQ(values[1], 8);
            muted = false;
        }
        group->all_reduce(both, Reduction::Sum, "SUM")->wait(soon());
        EXPECT_EQ(values[0], 14);
        EXPECT_EQ(values[1], 16);
    });
}

}  // namespace
}  // namespace debubble::exec
