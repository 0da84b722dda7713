#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "schedule/dependencies.h"
#include "schedule/passes/edit.h"
#include "schedule/schedule.h"

namespace debubble {

/// The program with the saved activations of these stages sent to the host's memory after each
/// forward, and back before the compute ahead of the backward, as a schedule from a CSV may ask
/// for: no pass of lower() does. A microbatch that is needed so soon that it would be reloaded
/// before its offload has ended stays on the device.
inline Program with_offload(Program program, const std::vector<Stage>& stages) {
    for (ActionList& list : program.ranks) {
        std::map<std::pair<Stage, MicroBatch>, std::size_t> forward;
        Edit edit(list);
        const auto visit = [&](std::size_t i, const Compute& c) {
            if (std::ranges::find(stages, c.stage) == stages.end()) return;
            if (c.pass == Pass::BackwardWeight) return;
            if (c.pass == Pass::Forward) {
                forward[{c.stage, c.micro_batch}] = i;
                return;
            }
            const std::size_t reload = compute_before(list, i);
            const auto at = forward.find({c.stage, c.micro_batch});
            if (at == forward.end() || reload <= at->second) return;
            edit.before(after_sends(list, at->second), Offload{c.stage, c.micro_batch});
            edit.before(reload, Reload{c.stage, c.micro_batch});
        };
        for (std::size_t i = 0; i < list.size(); ++i)
            for_each_compute(list[i], [&](const Compute& c) { visit(i, c); });
        list = std::move(edit).apply();
    }
    return program;
}

/// The same for all stages.
inline Program with_offload(Program program) {
    std::vector<Stage> stages;
    for (int s = 0; s < program.stage_count(); ++s) stages.push_back(Stage{s});
    return with_offload(std::move(program), stages);
}

}  // namespace debubble
