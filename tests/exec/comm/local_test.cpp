#include "exec/comm/transports.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <tuple>

#include "tests/exec/support/comm/comm_checks.h"
#include "tests/exec/support/comm/comm_conformance.h"

namespace debubble::exec {
namespace {

const char* word_for(Transport transport) {
    switch (transport) {
        case Transport::Buffered: return "Buffered";
        case Transport::IssueOrdered: return "IssueOrdered";
        default: return "Rendezvous";
    }
}

class LocalCommunicator
    : public testing::TestWithParam<std::tuple<Transport, int, ConformanceCase>> {};

TEST_P(LocalCommunicator, KeepsThePromise) {
    const auto& [transport, ranks, promise] = GetParam();
    EXPECT_NO_THROW(run_local(ranks, transport, promise.body));
}

std::string name_of_case(const testing::TestParamInfo<LocalCommunicator::ParamType>& run) {
    const auto& [transport, ranks, promise] = run.param;
    return word_for(transport) + std::to_string(ranks) + promise.name;
}

INSTANTIATE_TEST_SUITE_P(
    Conformance, LocalCommunicator,
    testing::Combine(testing::Values(Transport::Buffered, Transport::Own, Transport::IssueOrdered),
                     testing::Values(2, 3, 4), testing::ValuesIn(conformance_cases())),
    name_of_case);

/// The sentence of rank 0 when it waits for a send that rank 1 only receives after that wait.
std::string late_receive(Transport transport) {
    std::string sentence;
    run_local(2, transport, [&](Communicator& c) {
        int value = c.rank();
        const Buffer data = buffer_of(std::span(&value, 1));
        if (c.rank() == 0) {
            const Pending send = c.send({1, {}}, data, "0SEND_F0");
            try {
                send->wait(shortly());
                value = 77;  // the sender may overwrite what it sent
                c.barrier("BARRIER")->wait(soon());
            } catch (const DeadlinePassed& error) {
                sentence = error.what();
            }
        } else if (transport == Transport::Buffered) {
            c.barrier("BARRIER")->wait(soon());
            c.receive({0, {}}, data, "1RECV_F0")->wait(soon());
            EXPECT_EQ(value, 0);
        }
    });
    return sentence;
}

TEST(LocalTransport, BufferedSendsNeedNoReceiver) {
    EXPECT_EQ(late_receive(Transport::Buffered), "");
}

TEST(LocalTransport, RendezvousSendsWaitForTheirReceive) {
    for (const Transport transport : {Transport::Own, Transport::IssueOrdered}) {
        const std::string sentence = late_receive(transport);
        EXPECT_NE(sentence.find("0SEND_F0 to rank 1: rank 1 has not reached it"), std::string::npos)
            << sentence;
    }
}

/// Rank 0 sends on two channels in one order, rank 1 receives in the other, without a wait between:
/// only where the order of issue counts, none of them starts.
std::string crossed_order(Transport transport) {
    std::string sentence;
    std::mutex mutex;
    run_local(2, transport, [&](Communicator& c) {
        int first = 1, second = 2;
        const Buffer a = buffer_of(std::span(&first, 1)), b = buffer_of(std::span(&second, 1));
        const Channel forward{1 - c.rank(), Message::Kind::Activation};
        const Channel backward{1 - c.rank(), Message::Kind::Gradient};
        const Pending one =
            c.rank() == 0 ? c.send(forward, a, "0SEND_F0") : c.receive(backward, a, "1RECV_B0");
        const Pending two =
            c.rank() == 0 ? c.send(backward, b, "0SEND_B0") : c.receive(forward, b, "1RECV_F0");
        try {
            one->wait(within(300ms));
            two->wait(soon());
        } catch (const DeadlinePassed& error) {
            const std::lock_guard lock(mutex);
            sentence = error.what();
        } catch (const Aborted&) {  // the other rank's deadline came first
        }
    });
    return sentence;
}

TEST(LocalTransport, OnlyIssueOrderedHoldsCrossedChannelsUp) {
    EXPECT_EQ(crossed_order(Transport::Buffered), "");
    EXPECT_EQ(crossed_order(Transport::Own), "");
    const std::string sentence = crossed_order(Transport::IssueOrdered);
    EXPECT_TRUE(sentence.find("0SEND_F0 to rank 1: rank 1 must start 1RECV_B0 from rank 0 "
                              "before it") != std::string::npos ||
                sentence.find("1RECV_B0 from rank 0: rank 0 must start 0SEND_F0 to rank 1 "
                              "before it") != std::string::npos)
        << sentence;
}

struct DiskFull : WorldError {
    using WorldError::WorldError;
};

TEST(RunLocal, ThrowsWhatTheFirstRankToFailHasThrown) {
    std::atomic<int> aborted = 0;
    try {
        run_local(3, Transport::Own, [&](Communicator& c) {
            if (c.rank() == 1) throw DiskFull("no space left on device");
            try {
                c.barrier("BARRIER")->wait(soon());
            } catch (const Aborted& error) {
                EXPECT_EQ(std::string(error.what()),
                          "rank " + std::to_string(c.rank()) +
                              " stopped waiting for BARRIER among ranks 0, 1, 2: rank 1 failed: "
                              "no space left on device");
                ++aborted;
                throw;
            }
        });
        FAIL() << "run_local hides the failure";
    } catch (const DiskFull& error) {
        EXPECT_STREQ(error.what(), "no space left on device");
    }
    EXPECT_EQ(aborted, 2);
}

/// Two threads of each rank have one group each, as when gradients are reduced during a
/// computation.
TEST(RunLocal, ThreadsOfOneRankMayUseGroupsOfTheirOwn) {
    run_local(2, Transport::Own, [](Communicator& world) {
        const auto sum_often = [](Communicator& group) {
            for (int i = 0; i < 50; ++i) {
                int value = i;
                group.all_reduce(buffer_of(std::span(&value, 1)), Reduction::Sum, "SUM")
                    ->wait(soon());
                EXPECT_EQ(value, 2 * i);
            }
        };
        const auto other = world.group(world.ranks());
        std::jthread busy([&] { sum_often(*other); });
        sum_often(world);
    });
}

}  // namespace
}  // namespace debubble::exec
