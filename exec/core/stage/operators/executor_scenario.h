#pragma once

#include <optional>
#include <string>

#include "scenarios/plan/scenario.h"
#include "schedule/placement.h"

namespace debubble::exec {

/// The scenario with the kernels and buffers of this executor, which are those of the framework
/// profile `debubble`, instead of those of other software. The scenario still chooses everything
/// that decides the Program (schedule, partition, post-validation), so that simulate and run agree
/// on it, and the padding of the vocabulary, a chunked loss and the offload buffer. Attention is
/// always fused, so selective recompute has nothing to do. Throws InputError where the profile
/// cannot be read.
scenarios::Scenario executor_scenario(scenarios::Scenario scenario);

/// A feature of a scenario that can be simulated and not yet executed: the dotted key that asks for
/// it, and a sentence about it.
struct Unsupported {
    std::string key;
    std::string sentence;
};
std::optional<Unsupported> unsupported(const scenarios::Scenario& scenario);

/// The same for the balancing of routers, which depends on the placement of stages.
std::optional<Unsupported> unsupported(const scenarios::RouterOptions& routers,
                                       const Placement& placement);

}  // namespace debubble::exec
