#pragma once

#include <cstdint>

#include "base/memory_class.h"
#include "scenarios/scenario.h"
#include "sim/pass_time.h"

/// Parameters sharded over data parallel ranks and gathered layer by layer inside
/// a pass (FSDP, `wrap: layer`). One unit is gathered ahead; embedding and head are
/// the root unit, gathered for the whole pass. A backward also reduces each unit's
/// gradients, on the same communication stream.
namespace debubble::sim {

/// ZeRO-3 with `wrap: layer` over more than one rank.
bool gathers_in_passes(const scenarios::Scenario& scenario);

struct ShardedUnits {
    int layers = 0;
    std::int64_t layer_elements = 0;
    std::int64_t root_elements = 0;
};

/// Seconds of gathering and reducing that the pass's own kernels do not hide.
double exposed_sharding(const scenarios::Scenario& scenario, const ShardedUnits& units,
                        const PassTime& time, bool backward);

/// What is gathered, and not yet reduced, at the fullest moment.
MemoryByClass sharding_transient(const scenarios::Scenario& scenario, const ShardedUnits& units,
                                 bool backward);

}  // namespace debubble::sim
