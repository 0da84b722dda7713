#include "exec/comm/transports.h"

#include <tuple>

#include <gtest/gtest.h>

#include "tests/exec/support/comm/comm_checks.h"
#include "tests/exec/support/comm/comm_conformance.h"
#include "tests/exec/support/tcp_world.h"

namespace debubble::exec {
namespace {

class TcpCommunicator : public testing::TestWithParam<std::tuple<int, ConformanceCase>> {};

TEST_P(TcpCommunicator, KeepsThePromise) {
    const auto& [ranks, promise] = GetParam();
    EXPECT_EQ(run_tcp(ranks, promise.body), std::vector<std::string>(ranks));
}

std::string name_of_tcp_case(const testing::TestParamInfo<TcpCommunicator::ParamType>& run) {
    return "Over" + std::to_string(std::get<0>(run.param)) + std::get<1>(run.param).name;
}

INSTANTIATE_TEST_SUITE_P(Conformance, TcpCommunicator,
                         testing::Combine(testing::Values(2, 3, 4),
                                          testing::ValuesIn(conformance_cases())),
                         name_of_tcp_case);

TEST(TcpWorld, OneRankIsAJobToo) {
    EXPECT_EQ(
        run_tcp(
            1,
            [](Communicator& c) {
                int value = 7;
                c.all_reduce(buffer_of(std::span(&value, 1)), Reduction::Sum, "SUM")->wait(soon());
                check(value == 7, "a sum of one");
            }),
        std::vector<std::string>(1));
}

/// A small message goes its way while a large one to the same rank is written.
TEST(TcpWorld, MessagesOvertakeLargeOnes) {
    const auto failures = run_tcp(2, [](Communicator& c) {
        std::vector<float> large(64 << 20);
        float small = 1;
        const Channel big{1 - c.rank(), Message::Kind::Activation};
        const Channel little{1 - c.rank(), Message::Kind::Gradient};
        const Buffer all = buffer_of(std::span(large)), one = buffer_of(std::span(&small, 1));
        const Pending first = c.rank() == 0 ? c.send(big, all, "BIG") : c.receive(big, all, "BIG");
        const Pending second =
            c.rank() == 0 ? c.send(little, one, "LITTLE") : c.receive(little, one, "LITTLE");
        const Interval overtook = second->wait(soon());
        check(overtook.end <= first->wait(soon()).end, "256 MiB do not hold 4 bytes up");
    });
    EXPECT_EQ(failures, std::vector<std::string>(2));
}

}  // namespace
}  // namespace debubble::exec
