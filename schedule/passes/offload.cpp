#include <algorithm>

#include "schedule/dependencies.h"
#include "schedule/passes/edit.h"
#include "schedule/passes/passes.h"

namespace debubble {
namespace {

/// The position of the forward of a microbatch in a rank's list that has not come yet.
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

}  // namespace

/// Offloads after the forward and reloads before the compute ahead of the backward, so that the
/// copy runs at the same time as that compute. A microbatch that is needed so soon that it would be
/// reloaded before its offload has ended stays on the device.
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
            edit.before(after_sends(list, at), Offload{c.stage, c.micro_batch});
            edit.before(reload, Reload{c.stage, c.micro_batch});
        };
        for (std::size_t i = 0; i < list.size(); ++i)
            for_each_compute(list[i], [&](const Compute& c) { visit(i, c); });
        list = std::move(edit).apply();
    }
    return schedule;
}

}  // namespace debubble
