#include <algorithm>

#include "schedule/dependencies.h"
#include "schedule/passes/edit.h"
#include "schedule/passes/passes.h"

namespace debubble {
namespace {

/// Where the forward of a microbatch stands in a rank's list; nowhere yet.
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

}  // namespace

/// Out behind the forward, back before the compute that stands before the
/// backward, so that the copy runs beside it. What is needed again so soon that
/// it would have to come back before it is gone stays where it is.
Schedule add_offload(Schedule schedule, const LowerOptions& options) {
    if (options.offloaded.empty()) return schedule;
    const ResultIndex index(schedule);
    for (ActionList& list : schedule.ranks) {
        std::vector<std::size_t> forward(index.size(), kNowhere);
        Edit edit(list);
        const auto visit = [&](std::size_t i, const Compute& c) {
            if (std::ranges::find(options.offloaded, c.stage) == options.offloaded.end()) return;
            if (c.pass == Pass::BackwardWeight) return;
            std::size_t& at = forward[index.of(c.stage, c.micro_batch)];
            if (c.pass == Pass::Forward) {
                at = i;
                return;
            }
            const std::size_t reload = compute_before(list, i);
            if (at == kNowhere || reload <= at) return;
            edit.before(behind_sends(list, at), Offload{c.stage, c.micro_batch});
            edit.before(reload, Reload{c.stage, c.micro_batch});
        };
        for (std::size_t i = 0; i < list.size(); ++i)
            for_each_compute(list[i], [&](const Compute& c) { visit(i, c); });
        list = std::move(edit).apply();
    }
    return schedule;
}

}  // namespace debubble
