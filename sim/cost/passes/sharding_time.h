#pragma once

#include "scenarios/plan/scenario.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/cost/passes/sharding_prices.h"
#include "sim/memory/sharded_units.h"

namespace debubble::sim {

/// The time of gathering and reducing inside a pass.
///
/// A unit's parameters are gathered while the unit before it computes, and its gradients are
/// reduced while the next one does; gathers and reductions are on one communicator, so they run one
/// after the other (PyTorch's torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py). Each
/// unit's kernels, with the copies, and its communication take overlapped_seconds (contention.h).
ShardingTime sharding_time(const scenarios::Scenario& scenario, const ShardedUnits& units,
                           const PassTime& time, PassUse use);

}  // namespace debubble::sim
