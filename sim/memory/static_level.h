#pragma once

#include "models/memory/static_memory.h"
#include "scenarios/plan/scenario.h"

namespace debubble::sim {

/// True if a step keeps copies of what it changes: it runs before the norm is known, by which it
/// may be clipped or, with a loss scale, skipped.
bool keeps_step_copies(const scenarios::Scenario& scenario);

/// The static policy that follows from optimizer, precision, sharding and framework of a scenario.
models::StaticPolicy static_policy(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
