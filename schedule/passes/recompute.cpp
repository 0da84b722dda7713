#include <algorithm>

#include "schedule/lower.h"
#include "schedule/passes/edit.h"

namespace debubble {

/// Directly before the backward (I or B): what it makes again is kept until W,
/// so a split backward recomputes once. It needs no gradient, so the receive
/// before it goes on meanwhile.
Schedule add_recompute(Schedule schedule, const LowerOptions& options) {
    if (options.recomputed.empty()) return schedule;
    const auto recomputed = [&](Stage stage) {
        return std::ranges::find(options.recomputed, stage) != options.recomputed.end();
    };
    for (ActionList& list : schedule.ranks) {
        Edit edit(list);
        for (std::size_t i = 0; i < list.size(); ++i)
            for_each_compute(list[i], [&](const Compute& c) {
                const bool starts_backward =
                    c.pass == Pass::Backward || c.pass == Pass::BackwardInput;
                if (starts_backward && recomputed(c.stage))
                    edit.before(i, Recompute{c.stage, c.micro_batch});
            });
        list = std::move(edit).apply();
    }
    return schedule;
}

}  // namespace debubble
