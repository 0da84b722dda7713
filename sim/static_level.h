#pragma once

#include "models/static_memory.h"
#include "scenarios/scenario.h"

namespace debubble::sim {

/// What optimizer, precision, sharding and framework of a scenario make of parameters.
models::StaticPolicy static_policy(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
