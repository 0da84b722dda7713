#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "models/operators/kernel.h"
#include "scenarios/cluster/cluster.h"
#include "sim/network/group.h"

/// The time of a collective when nothing else uses its links. Bandwidth terms are those of the
/// algorithms (Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", 2005; NCCL's double binary trees, NVLS), the constants those of the cluster. Cost
/// depends on the group's size and on its placement.
namespace debubble::sim {

enum class CollectiveKind : std::uint8_t {
    AllReduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    AllToAll,
};

enum class CollectiveAlgorithm : std::uint8_t {
    Ring,          ///< one ring through all members, node after node
    Tree,          ///< double binary tree over nodes, a chain in each
    Hierarchical,  ///< inside nodes, then one rail per member across them; NCCL gathers and reduces
                   ///< by rings alone
};

enum class Tier : std::uint8_t { None, Node, Network, Spine };
/// Seconds for which each tier is busy.
using TierSeconds = ArrayBy<Tier, double, 4>;
inline void add(TierSeconds& sum, const TierSeconds& more) {
    for (std::size_t tier = 0; tier < sum.size(); ++tier) sum[tier] += more[tier];
}

struct CollectiveCost {
    Duration latency{};   ///< time of hops, and of work on tiers that is not pipelined with the
                          ///< slowest
    Duration transfer{};  ///< time of the bytes without contention, no shorter than on any tier
    TierSeconds busy{};   ///< time for which each tier carries its bytes, without contention
    Duration total() const { return latency + transfer; }
};

/// Both collectives, one after the other.
CollectiveCost operator+(CollectiveCost one, const CollectiveCost& then);

/// `size` is the whole (gathered, reduced, exchanged) tensor of the group. Returns nothing if the
/// algorithm does not support the collective there.
std::optional<CollectiveCost> collective_cost(CollectiveKind kind, Bytes size,
                                              const GroupPlacement& group,
                                              const scenarios::Cluster& cluster,
                                              CollectiveAlgorithm algorithm);

/// The cost with the fastest algorithm, as NCCL's tuner would choose; the measured cost where the
/// cluster was calibrated for such a group. Zero for a group of one.
CollectiveCost collective_cost(CollectiveKind kind, Bytes size, const GroupPlacement& group,
                               const scenarios::Cluster& cluster);

/// Bus bandwidth inside a node for a group of `members`, for very large messages.
BytesPerSecond node_bandwidth(const scenarios::Cluster& cluster, int members);
/// The bandwidth of all NICs of a node together, in one direction, for large messages.
BytesPerSecond network_bandwidth(const scenarios::Cluster& cluster);

/// The tokens that an expert-parallel group sends to its experts, or receives from them.
struct ExpertAllToAll {
    Bytes bytes;  ///< one copy of a token per chosen expert, over all ranks of the group
    models::Routing routing;
    models::Dispatcher by{};
};

/// The time of the all-to-all. The collective library sends every copy of a token by itself. DeepEP
/// and HybridEP send a token once to each node that has an expert for it, over the network, and
/// from there once to each rank. A dispatcher that gathers sends all tokens to all ranks.
CollectiveCost expert_all_to_all_cost(const ExpertAllToAll& exchange, const GroupPlacement& group,
                                      const scenarios::Cluster& cluster);

// The destinations of a token among the ranks or nodes that share the experts.

/// The expected number of `destinations`, equal parts of the experts, to which a token is sent at
/// least once. The router chooses groups uniformly, and experts in them uniformly: with one group
/// it is G (1 - C(E - E/G, k) / C(E, k)) (DeepEP dd758ca, deep_ep/buffers/elastic.py).
double expected_destinations(std::int64_t destinations, const models::Routing& routing);

}  // namespace debubble::sim
