#include "sim/network/collective_cost.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>

#include "tests/sim/machines.h"

namespace debubble::sim {
namespace {

constexpr Bytes kSize{std::int64_t{1} << 30};
constexpr CollectiveKind kKinds[] = {CollectiveKind::AllReduce, CollectiveKind::AllGather,
                                     CollectiveKind::ReduceScatter, CollectiveKind::Broadcast,
                                     CollectiveKind::AllToAll};

/// `size` members, at most `per_node` to a node, alone there.
GroupPlacement group(int size, int per_node, int groups_per_node = 1) {
    const int nodes = (size + per_node - 1) / per_node;
    return {size, nodes, std::min(size, per_node), groups_per_node, 1, groups_per_node * nodes};
}

/// No latency, no half size, perfect links: only volumes are left.
scenarios::Cluster ideal() {
    scenarios::Cluster cluster = dgx_a100();
    cluster.node_link.group_efficiency.clear();
    cluster.node_link.latency = cluster.node_link.base_latency = Duration{};
    cluster.node_link.half_bandwidth_size = {};
    cluster.network.latency = Duration{};
    cluster.network.efficiency = 1;
    return cluster;
}

double ring_seconds(CollectiveKind kind, const GroupPlacement& placed,
                    const scenarios::Cluster& cluster) {
    return seconds(
        collective_cost(kind, kSize, placed, cluster, CollectiveAlgorithm::Ring)->total());
}

TEST(CollectiveCost, OfARingInANodeIsTheClosedForm) {
    const double once = static_cast<double>(kSize.count) / 300e9;
    for (const int n : {2, 3, 4, 8}) {
        const double part = (n - 1.0) / n;
        const auto of = [&](CollectiveKind kind) {
            return ring_seconds(kind, group(n, 8), ideal());
        };
        EXPECT_NEAR(of(CollectiveKind::AllReduce), 2 * part * once, 1e-9);
        EXPECT_NEAR(of(CollectiveKind::AllGather), part * once, 1e-9);
        EXPECT_NEAR(of(CollectiveKind::ReduceScatter), part * once, 1e-9);
        EXPECT_NEAR(of(CollectiveKind::Broadcast), once, 1e-9);
        EXPECT_NEAR(of(CollectiveKind::AllToAll), part / n * once, 1e-9);
    }
}

TEST(CollectiveCost, OfARingAcrossNodesIsSetByTheNicsThatGroupsShare) {
    const double nics = 8 * 12.5e9;
    for (const int nodes : {2, 4, 32})
        for (const int groups : {1, 2, 8}) {
            const double expected =
                2 * (nodes - 1.0) / nodes * static_cast<double>(kSize.count) * groups / nics;
            EXPECT_NEAR(ring_seconds(CollectiveKind::AllReduce, group(nodes, 1, groups), ideal()),
                        expected, 1e-8);
        }
}

TEST(CollectiveCost, OfAllReduceIsItsTwoHalves) {
    for (const int n : {2, 4, 8, 16, 64}) {
        const auto of = [&](CollectiveKind kind) {
            return ring_seconds(kind, group(n, 8), ideal());
        };
        EXPECT_NEAR(of(CollectiveKind::AllReduce),
                    of(CollectiveKind::AllGather) + of(CollectiveKind::ReduceScatter), 1e-8);
    }
}

/// The bus bandwidth of rings through nodes of eight GPUs, by NCCL's own model: LL128's hops of 1.9
/// and 4 us at 0.92 of the bandwidth, or Simple's of 3.4 and 14 us.
TEST(CollectiveCost, OfAGatherAcrossNodesIsThatOfNcclsBetterProtocol) {
    scenarios::Cluster cluster = dgx_a100();
    cluster.node_link.bandwidth = {370e9};
    cluster.node_link.group_efficiency.clear();
    cluster.node_link.half_bandwidth_size = {};
    cluster.node_link.base_latency = Duration{};
    cluster.network.nic_bandwidth = {1e12};
    for (const auto& [nodes, bytes, wide] :
         {std::tuple{8, 403e6, false}, {8, 1.7e9, true}, {64, 403e6, false}, {64, 16e6, false}}) {
        const int ranks = 8 * nodes;
        const double hops = wide ? (ranks - nodes) * 3.4e-6 + (nodes - 1) * 14e-6
                                 : (ranks - nodes) * 1.9e-6 + (nodes - 1) * 4e-6;
        const double sent = bytes * (ranks - 1) / ranks / (370e9 * (wide ? 1 : 0.92));
        const auto cost =
            collective_cost(CollectiveKind::AllGather, Bytes{static_cast<std::int64_t>(bytes)},
                            group(ranks, 8), cluster);
        EXPECT_NEAR(seconds(cost.total()), hops + sent, 1e-6) << nodes << " nodes, " << bytes;
    }
}

TEST(CollectiveCost, ARingIsNeverFasterThroughMoreNodes) {
    for (const Bytes size : {Bytes{16 << 20}, kSize}) {
        double least = 1e30;
        for (const int nodes : {1, 2, 4, 8, 16, 32, 64, 128}) {
            const auto cost = collective_cost(CollectiveKind::ReduceScatter, size,
                                              group(8 * nodes, 8), dgx_a100());
            const double busbw = static_cast<double>(size.count) / seconds(cost.total()) *
                                 (8 * nodes - 1) / (8 * nodes);
            EXPECT_LE(busbw, least) << nodes;
            least = busbw;
        }
    }
}

TEST(CollectiveCost, GrowsWithTheMessage) {
    for (const auto& cluster : {dgx_a100(), dgx_v100()})
        for (const CollectiveKind kind : kKinds)
            for (const int size : {2, 4, 8, 16, 128}) {
                Duration last{};
                for (std::int64_t bytes = 1; bytes < (1LL << 36); bytes *= 3) {
                    const auto cost = collective_cost(kind, Bytes{bytes}, group(size, 8), cluster);
                    EXPECT_GE(cost.total(), last) << size << " ranks, " << bytes << " bytes";
                    last = cost.total();
                }
            }
}

TEST(CollectiveCost, GrowsWithTheGroupOnOneTier) {
    for (const CollectiveKind kind : kKinds) {
        if (kind == CollectiveKind::AllToAll) continue;  // its part of the whole tensor shrinks
        for (const Bytes size : {Bytes{1000}, Bytes{1 << 20}, kSize}) {
            for (const int per_node : {1, 8}) {
                Duration last{};
                for (int n = per_node; n <= 512; n *= 2) {
                    const auto cost = collective_cost(kind, size, group(n, per_node), dgx_a100());
                    EXPECT_GE(cost.total(), last) << n << " ranks, " << per_node << " per node";
                    last = cost.total();
                }
            }
        }
    }
}

TEST(CollectiveCost, GrowsWhenTheGroupIsSpreadOverNodes) {
    for (const CollectiveKind kind : kKinds)
        EXPECT_GT(collective_cost(kind, kSize, group(8, 1, 8), dgx_a100()).total(),
                  collective_cost(kind, kSize, group(8, 8), dgx_a100()).total());
}

TEST(CollectiveCost, TreesWinForShortMessagesOnManyNodes) {
    const auto many = group(256, 1);
    const auto time = [&](Bytes size, CollectiveAlgorithm algorithm) {
        return collective_cost(CollectiveKind::AllReduce, size, many, dgx_a100(), algorithm)
            ->total();
    };
    EXPECT_LT(time(Bytes{1 << 20}, CollectiveAlgorithm::Tree),
              time(Bytes{1 << 20}, CollectiveAlgorithm::Ring));
    EXPECT_LT(time(Bytes{16LL << 30}, CollectiveAlgorithm::Ring),
              time(Bytes{16LL << 30}, CollectiveAlgorithm::Tree));
}

TEST(CollectiveCost, SwitchesThatAddBeatARing) {
    scenarios::Cluster nvls = dgx_a100();
    const auto ring = collective_cost(CollectiveKind::AllReduce, kSize, group(8, 8), nvls);
    nvls.node_link.all_reduce_bandwidth = 1.24;
    const auto fast = collective_cost(CollectiveKind::AllReduce, kSize, group(8, 8), nvls);
    EXPECT_NEAR(seconds(ring.transfer) / seconds(fast.transfer), 1.24, 1e-6);
    const auto gather = [&](const scenarios::Cluster& cluster) {
        return collective_cost(CollectiveKind::AllGather, kSize, group(8, 8), cluster).total();
    };
    EXPECT_EQ(gather(nvls), gather(dgx_a100()));
}

TEST(CollectiveCost, OversubscribedSpinesSlowGroupsThatCrossThem) {
    scenarios::Cluster cluster = ideal();
    cluster.network.nodes_per_leaf = 4;
    cluster.network.oversubscription = 16;
    const GroupPlacement inside{4, 4, 1, 8, 1, 8};
    const GroupPlacement across{8, 8, 1, 8, 2, 8};
    const auto near = collective_cost(CollectiveKind::AllReduce, kSize, inside, cluster);
    const auto far = collective_cost(CollectiveKind::AllReduce, kSize, across, cluster);
    EXPECT_EQ(near.busy[static_cast<std::size_t>(Tier::Spine)], 0);
    EXPECT_EQ(from_seconds(near.busy[static_cast<std::size_t>(Tier::Network)]), near.transfer);
    EXPECT_EQ(from_seconds(far.busy[static_cast<std::size_t>(Tier::Spine)]), far.transfer);
    EXPECT_GT(far.busy[static_cast<std::size_t>(Tier::Network)], 0);
    // 8 rings over uplinks of 4 nodes' NICs / 16.
    EXPECT_NEAR(seconds(far.total()),
                2 * 7.0 / 8 * static_cast<double>(kSize.count) * 8 / (4 * 100e9 / 16), 1e-6);
}

TEST(CollectiveCost, BridgedPairsFallBackToPcieForMore) {
    scenarios::Cluster cluster = ideal();
    cluster.node_link.kind = scenarios::NodeLink::Kind::Pairs;
    EXPECT_EQ(node_bandwidth(cluster, 2).value, 300e9);
    EXPECT_EQ(node_bandwidth(cluster, 4), cluster.gpu.host_link);
}

TEST(CollectiveCost, OfOneIsNothing) {
    for (const CollectiveKind kind : kKinds)
        EXPECT_EQ(collective_cost(kind, kSize, group(1, 8), dgx_a100()).total(), Duration{});
}

}  // namespace
}  // namespace debubble::sim
