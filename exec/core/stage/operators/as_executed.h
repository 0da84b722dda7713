#pragma once

#include <optional>
#include <string>

#include "scenarios/plan/scenario.h"
#include "schedule/placement.h"

namespace debubble::exec {

/// The scenario with the kernels and buffers of this executor, which are those of the framework
/// profile `debubble`, instead of another software's. The scenario chooses what decides the Program
/// (schedule, partition, post-validation: the plan is made from the scenario as it is, so that
/// simulate and run agree on it), how the vocabulary is padded, a chunked loss and the offload
/// buffer. Attention is always fused, so selective recompute has nothing to do. Throws InputError
/// where the profile cannot be read.
scenarios::Scenario as_executed(scenarios::Scenario scenario);

/// What nothing executes yet of a scenario that can be planned: the dotted key that asks for it,
/// and the sentence that says so.
struct Unexecuted {
    std::string key;
    std::string sentence;
};
std::optional<Unexecuted> unexecuted(const scenarios::Scenario& scenario);

/// Likewise of what routers balance, where stages lie in such a way.
std::optional<Unexecuted> unexecuted(const scenarios::RouterOptions& routers,
                                     const Placement& placement);

}  // namespace debubble::exec
