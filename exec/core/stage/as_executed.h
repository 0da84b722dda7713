#pragma once

#include "scenarios/scenario.h"

namespace debubble::exec {

/// The scenario with the kernels and buffers of this executor, which are those of the framework
/// profile `debubble`, instead of another software's. The scenario chooses what decides the Program
/// (schedule, partition, post-validation: the plan is made from the scenario as it is, so that
/// simulate and run agree on it), how the vocabulary is padded, a chunked loss and the offload
/// buffer. Attention is always fused, so selective recompute has nothing to do. Throws InputError
/// where the profile cannot be read.
scenarios::Scenario as_executed(scenarios::Scenario scenario);

/// Throws InputError where the scenario is planned in a way that nothing executes yet.
void check_executed(const scenarios::Scenario& scenario);

}  // namespace debubble::exec
