#pragma once

#include <cstdint>

#include "scenarios/plan/scenario.h"
#include "sim/memory/sharded_units.h"
#include "sim/network/collective_cost.h"
#include "sim/network/group.h"
#include "sim/network/topology.h"

namespace debubble::sim {

/// The time of gathering and reducing inside a pass.
struct ShardingTime {
    double exposed = 0;  ///< seconds that the pass's own kernels do not hide
    double hidden = 0;   ///< seconds that they hide
    double copies = 0;  ///< seconds of kernels that copy into and out of the buffers of collectives
    int collectives = 0;
    double bytes = 0;  ///< the sizes of all collectives together
    TierSeconds busy{};
};

/// Seconds of collectives between replicas, one after the other: without contention, at
/// Tier::None, and the least in which each tier can carry them, latency included.
using ShardingSeconds = TierSeconds;
inline double alone(const ShardingSeconds& seconds) {
    return seconds[static_cast<std::size_t>(Tier::None)];
}
inline ShardingSeconds operator+(ShardingSeconds one, const ShardingSeconds& other) {
    add(one, other);
    return one;
}

/// Prices gathers and reductions of sharded parameters in a pass, and sums their bytes and their
/// number.
class ShardingPrices {
public:
    /// `tensors` are those of a layer, each of which may be gathered and reduced by itself
    /// (scenarios::Gather).
    ShardingPrices(const scenarios::Scenario& scenario, PassUse use, int tensors = 1);

    /// Experts are sharded over the fewer ranks that hold them. A share of the elements are weights
    /// of GEMMs in 8 or 4 bits.
    ShardingSeconds gathering(std::int64_t dense, std::int64_t experts, int times,
                              double narrow = 0);
    /// Copies of a shard sum the reductions of their groups.
    ShardingSeconds reducing(std::int64_t dense, std::int64_t experts, int times);
    /// The cast of a shard reads fp32 and writes the compute type, the slot of the gather takes a
    /// copy of it, and another copy brings the whole into parameters; gradients are copied into the
    /// type and order in which they are reduced.
    double copying(std::int64_t elements) const;

    ShardingTime time;

private:
    ShardingSeconds takes(CollectiveKind kind, std::int64_t bytes, const GroupPlacement& group,
                          int times);
    /// The cluster as one such collective sees it.
    scenarios::Cluster with_one_adapter(const GroupPlacement& group) const;

    const scenarios::Scenario& scenario_;
    PassUse use_;
    GroupPlacement shards_;
    GroupPlacement copies_;
    GroupPlacement expert_shards_;
    GroupPlacement expert_copies_;
    bool gathers_;
    int pieces_;  ///< collectives in place of a single one
};

}  // namespace debubble::sim
