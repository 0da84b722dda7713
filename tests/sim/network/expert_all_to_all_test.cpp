#include "sim/network/collective_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "scenarios/cluster/reader.h"
#include "tests/sim/machines.h"

namespace debubble::sim {
namespace {

using models::Dispatcher;

/// Groups of eight ranks per node.
GroupPlacement ranks(int size) {
    return {size, (size + 7) / 8, std::min(size, 8), 1, 1, (size + 7) / 8};
}

CollectiveCost exchange(Dispatcher by, const GroupPlacement& group) {
    constexpr std::int64_t kTokensOfRank = 4096, kWidth = 7168, kRows = 8;
    return expert_all_to_all_cost(
        {Bytes{2 * kTokensOfRank * kWidth * kRows * group.size}, {kRows, 256}, by}, group,
        dgx_a100());
}

/// The copies of a token of DeepSeek-V3's kind that leave its node, and those that leave its rank.
TEST(ExpertAllToAll, SendsATokenOnceToEachGroupThatItsExpertsAreIn) {
    const auto nodes_away = [](int nodes) {
        return expected_destinations(nodes, {8, 256}) * (1 - 1.0 / nodes);
    };
    EXPECT_NEAR(nodes_away(2), 1.0, 0.01);
    EXPECT_NEAR(nodes_away(4), 2.7, 0.05);
    EXPECT_NEAR(nodes_away(8), 4.6, 0.05);
    EXPECT_NEAR(expected_destinations(8, {8, 256}) * 7 / 8, 4.6, 0.05);
    EXPECT_DOUBLE_EQ(expected_destinations(1, {8, 256}), 1);
    EXPECT_NEAR(expected_destinations(256, {8, 256}), 8, 1e-9)
        << "every row has an expert of its own";
}

TEST(ExpertAllToAll, SendsNoMoreOverCardsThanRowByRow) {
    const auto wire = static_cast<std::size_t>(Tier::Network);
    for (const int size : {16, 32, 64}) {
        const double rows = exchange(Dispatcher::AllToAll, ranks(size)).busy[wire];
        const double tokens = exchange(Dispatcher::DeepEp, ranks(size)).busy[wire];
        EXPECT_LT(tokens, rows) << size;
        const double copies = 8 * (1 - 8.0 / size);
        EXPECT_NEAR(tokens / rows,
                    expected_destinations(size / 8, {8, 256}) * (1 - 8.0 / size) / copies, 1e-6);
        EXPECT_GE(exchange(Dispatcher::AllGather, ranks(size)).busy[wire], tokens);
    }
    EXPECT_EQ(exchange(Dispatcher::DeepEp, ranks(8)).busy[wire], 0);
    EXPECT_EQ(exchange(Dispatcher::HybridEp, ranks(1)).total(), Duration{});
}

/// GB/s of 4096 tokens of 7168 in bf16, a token's copies for its own node among them.
double rate(Dispatcher by, const std::string& machine, int size, const models::Routing& routing) {
    const scenarios::Cluster cluster = scenarios::read_cluster(machine);
    constexpr std::int64_t kTokenBytes = 2 * 4096 * 7168;
    const CollectiveCost cost = expert_all_to_all_cost(
        {Bytes{kTokenBytes * routing.per_token * size}, routing, by}, ranks(size), cluster);
    return kTokenBytes * expected_destinations(size / 8, routing) / seconds(cost.transfer) / 1e9;
}

/// HybridEP's kernels of 16 multiprocessors with eight experts a rank, dispatch and combine (DeepEP
/// 41cad94, docs/README_Hybrid-EP.md), and DeepEP's combine on H800, where a token goes to four
/// nodes at most (its README).
TEST(ExpertAllToAll, IsNearThePublishedRates) {
    for (const auto& [size, dispatch, combine] :
         {std::tuple{16, 71.71, 62.95}, {32, 57.69, 57.46}, {64, 49.97, 49.77}}) {
        const double ours = rate(Dispatcher::HybridEp, "hgx-h100", size, {8, 8 * size});
        EXPECT_NEAR(ours, (dispatch + combine) / 2, 0.12 * ours) << size;
    }
    for (const auto& [size, combine] : {std::pair{16, 43.0}, {32, 57.0}, {64, 50.0}}) {
        const double ours =
            rate(Dispatcher::DeepEp, "hgx-h800", size, {8, 256, size / 8, std::min(size / 8, 4)});
        EXPECT_NEAR(ours, combine, 0.2 * combine) << size;
    }
}

}  // namespace
}  // namespace debubble::sim
