#include <algorithm>

#include "schedule/passes/edit.h"
#include "schedule/passes/passes.h"

namespace debubble {

/// Once per rank that holds a copy, after the last backward of its copies and after its reductions:
/// that is one order of collectives on all ranks. The action names the first of the copies.
Schedule add_tied_grad(Schedule schedule, const LowerOptions& options) {
    const auto tied = [&](Stage stage) {
        return std::ranges::find(options.tied, stage) != options.tied.end();
    };
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
        const auto& held = schedule.placement.stages[r];
        const auto copy = std::ranges::find_if(held, tied);
        if (copy == held.end()) continue;
        ActionList& list = schedule.ranks[r];
        std::size_t position = 0;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (std::holds_alternative<ReduceGrad>(list[i])) position = i + 1;
            for_each_compute(list[i], [&](const Compute& c) {
                if (tied(c.stage)) position = after_sends(list, i);
            });
        }
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(position), TiedGradReduce{*copy});
    }
    return schedule;
}

}  // namespace debubble
