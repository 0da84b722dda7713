#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace debubble {

/// The reason why a rank cannot continue: the action it has reached, and the rank it waits for.
struct Wait {
    std::string at;          ///< text of the action
    std::string needs;       ///< the missing input, such as "1B0 of rank 1"
    std::optional<Rank> on;  ///< rank to wait for; nothing if no rank will ever compute it
};

/// The ranks that block each other, in order, starting at the smallest one that waits. They form a
/// cycle, or a chain to a rank that waits for something that no rank computes.
struct WaitingCycle {
    std::vector<Rank> ranks;
    std::string sentence;
};

/// Precondition: at least one rank waits. `waits` is indexed by rank; nothing
/// for a rank that has finished.
WaitingCycle waiting_cycle(const std::vector<std::optional<Wait>>& waits);

}  // namespace debubble
