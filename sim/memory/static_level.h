#pragma once

#include "models/static_memory.h"
#include "scenarios/scenario.h"

namespace debubble::sim {

/// Whether a step keeps copies of what it changes: it is taken before the norm is known, by which
/// it may be clipped or, with a loss scale, skipped.
bool keeps_step_copies(const scenarios::Scenario& scenario);

/// What optimizer, precision, sharding and framework of a scenario make of parameters.
models::StaticPolicy static_policy(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
