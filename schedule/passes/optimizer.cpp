#include "schedule/passes/passes.h"

namespace debubble {

/// Synchronised: every rank waits for the norm of all gradients. Post-validated (zero-bubble paper,
/// section 4): each rank steps as soon as its own gradients are complete, and the norm, which
/// arrives later, confirms the step or rolls it back.
Schedule add_optimizer(Schedule schedule, const LowerOptions& options) {
    if (options.optimizer == OptimizerPlacement::None) return schedule;
    const bool synchronized = options.optimizer == OptimizerPlacement::Synchronized;
    for (ActionList& list : schedule.ranks) {
        list.reserve(list.size() + 2);
        if (synchronized) list.emplace_back(GradNorm{});
        list.emplace_back(OptimizerStep{});
        if (!synchronized) list.emplace_back(GradNorm{});
    }
    return schedule;
}

}  // namespace debubble
