#pragma once

#include "scenarios/scenario.h"

namespace debubble::exec {

/// The scenario with the kernels and buffers of this executor instead of another software's:
/// what of a framework profile decides how operators compute, and what they hold, is no choice
/// here. Attention is always fused, so selective recompute has nothing to do. What decides the
/// Program (schedule, partition, post-validation) stays: the plan is made from the scenario as
/// it is, so that simulate and run agree on it.
scenarios::Scenario as_executed(scenarios::Scenario scenario);

}  // namespace debubble::exec
