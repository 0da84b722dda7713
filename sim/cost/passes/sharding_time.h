#pragma once

#include <cstdint>
#include <deque>

#include "scenarios/plan/scenario.h"
#include "sim/cost/passes/contention.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/memory/fetch_plan.h"
#include "sim/memory/sharded_units.h"
#include "sim/network/collective_cost.h"
#include "sim/network/group.h"
#include "sim/network/topology.h"

/// The time of gathering and reducing sharded parameters inside a pass: by units, as in PyTorch's
/// FSDP, or within DeepSpeed's limits (fetch_plan.h).
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
    return seconds[Tier::None];
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

/// The time of gathering and reducing inside a pass.
///
/// A unit's parameters are gathered while the unit before it computes, and its gradients are
/// reduced while the next one does; gathers and reductions are on one communicator, so they run one
/// after the other (PyTorch's torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py). Each
/// unit's kernels, with the copies, and its communication take overlapped_seconds (contention.h).
ShardingTime sharding_time(const scenarios::Scenario& scenario, const ShardedUnits& units,
                           const PassTime& time, PassUse use);

/// Kernels on one lane and gathers and reductions on another, which runs them in the order of
/// issue: both are slower while the other runs (contention.h).
class FetchLanes {
public:
    explicit FetchLanes(const Contention& contention) : contention_(contention) {}

    /// Seconds since the beginning.
    double now() const { return now_; }
    /// Enqueues a transfer of `seconds` on the lane. `parameter` arrives with it; -1: none.
    void enqueue(double seconds, int parameter) { queue_.push_back({seconds, parameter}); }
    /// Runs kernels of `seconds`. `room` is the share of that time in which communication may use
    /// the links.
    void run(double seconds, double room);
    /// Waits until the parameter has arrived, if it is on the lane.
    void await(int parameter);
    /// Waits until everything on the lane has arrived.
    void await_all();

private:
    struct Transfer {
        double left = 0;  ///< seconds
        int parameter = 0;
    };
    void arrive();

    Contention contention_;
    double now_ = 0;
    std::deque<Transfer> queue_;
};

/// A gather is one collective for the missing parameters of an operator, and one for its
/// prefetches; parameters arrive one after the other. The gradients of a layer are reduced
/// together, when the last of them is made, and the rest, with those outside of layers, at the end.
/// A backward that makes gradients ends when all are reduced. `lanes` are initially as the previous
/// pass left them.
ShardingTime fetch_time(const scenarios::Scenario& scenario, const FetchPlan& plan,
                        const FetchPass& pass, const PassTime& time, PassUse use,
                        FetchLanes& lanes);

}  // namespace debubble::sim
