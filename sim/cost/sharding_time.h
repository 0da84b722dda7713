#pragma once

#include "scenarios/scenario.h"
#include "sim/cost/pass_time.h"
#include "sim/memory/sharded_units.h"

namespace debubble::sim {

/// The time of gathering and reducing inside a pass.
struct ShardingTime {
    double exposed = 0;  ///< seconds that the pass's own kernels do not hide
    double hidden = 0;   ///< seconds that they hide
    TierSeconds busy{};
};
ShardingTime sharding_time(const scenarios::Scenario& scenario, const ShardedUnits& units,
                           const PassTime& time, PassUse use);

}  // namespace debubble::sim
