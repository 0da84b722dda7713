#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/schedule.h"

namespace debubble {

/// The program with each of these stages run forward again directly before every backward (B or I)
/// of it, as a schedule from a CSV may ask for: no pass of lower() does.
inline Program with_recompute(Program program, const std::vector<Stage>& stages) {
    for (ActionList& list : program.ranks) {
        ActionList longer;
        for (const Action& action : list) {
            for_each_compute(action, [&](const Compute& c) {
                const bool starts_backward =
                    c.pass == Pass::Backward || c.pass == Pass::BackwardInput;
                if (starts_backward && std::ranges::find(stages, c.stage) != stages.end())
                    longer.emplace_back(Recompute{c.stage, c.micro_batch});
            });
            longer.push_back(action);
        }
        list = std::move(longer);
    }
    return program;
}

}  // namespace debubble
