#pragma once

#include "base/memory_class.h"
#include "scenarios/scenario.h"

namespace debubble::sim {

/// What a rank that holds so many parameters (before sharding over data parallel
/// ranks) holds from the second step on, computing nothing.
MemoryByClass static_level(const scenarios::Scenario& scenario, std::int64_t elements);

/// What the optimizer step adds while it runs.
Bytes optimizer_temporaries(const scenarios::Scenario& scenario, std::int64_t elements);

}  // namespace debubble::sim
