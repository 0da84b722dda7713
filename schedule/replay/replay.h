#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "schedule/costs.h"
#include "schedule/schedule.h"

namespace debubble {

/// The times of the actions of a compute-only schedule, by longest path: a compute starts at
/// max(rank free, inputs + link on edges that change rank). Sends are free and asynchronous;
/// nothing contends. A slice costs 1/k of its stage.
struct Replay {
    struct Times {
        Instant begin;
        Instant end;
    };
    std::vector<std::vector<Times>> ranks;  ///< same shape as Schedule::ranks

    Duration makespan{};     ///< first compute start to last compute end
    double bubble = 0;       ///< 1 - sum of compute durations / (ranks x makespan)
    double span_bubble = 0;  ///< 1 - work / (last end - first start), worst rank
    /// Greatest number of live stage activations per rank, each held from its
    /// F until its W (or B), and until its I (or B). A slice counts 1/k.
    std::vector<double> peak_live_until_weight;
    std::vector<double> peak_live_until_input;
};

/// Precondition: every stage and microbatch has its F, and its I and W or its B, exactly once.
/// Throws InputError naming the waiting actions if the order deadlocks.
Replay replay(const Schedule& schedule, const PipelineCosts& costs);

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
