#pragma once

#include "models/execution/execution.h"
#include "scenarios/plan/scenario.h"

namespace debubble::scenarios {

/// The Execution of a scenario's passes. This is the one place where training recipe, framework
/// profile and parallelism become an Execution. The simulator prices its graphs, the executor runs
/// them.
models::Execution execution_of(const Scenario& scenario);

/// Whether the network, the recipe and the GPU have the fused kernels of experts, which are those
/// of gated activations (Framework::fused_experts).
bool may_fuse_experts(const Scenario& scenario);
bool fuses_experts(const Scenario& scenario);

}  // namespace debubble::scenarios
