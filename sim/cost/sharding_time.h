#pragma once

#include "scenarios/scenario.h"
#include "sim/cost/pass_time.h"
#include "sim/memory/sharded_units.h"

namespace debubble::sim {

/// The time of gathering and reducing inside a pass.
///
/// A unit's parameters are gathered while the unit before it computes, and its gradients are
/// reduced while the next one does; gathers and reductions are on one communicator, so one of them
/// runs after the other. Beside them kernels have fewer multiprocessors
/// (Framework::collective_sms). A unit with K seconds of kernels, copies included, and C of
/// communication therefore takes max(C, K + C sms / all): PyTorch's
/// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py.
struct ShardingTime {
    double exposed = 0;  ///< seconds that the pass's own kernels do not hide
    double hidden = 0;   ///< seconds that they hide
    double copies = 0;  ///< seconds of kernels that copy into and out of the buffers of collectives
    int collectives = 0;
    TierSeconds busy{};
};
ShardingTime sharding_time(const scenarios::Scenario& scenario, const ShardedUnits& units,
                           const PassTime& time, PassUse use);

/// The share of the device's multiprocessors that a collective between replicas takes from the
/// kernels beside it.
double taken_by_collectives(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
