#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "sim/engine/follow_memory.h"
#include "sim/engine/task_graph.h"

namespace debubble::sim {

/// The times of all tasks of a graph.
struct PlayedTasks {
    std::vector<TaskTimes> times;
    std::vector<TaskId> begun;  ///< all tasks in the order in which they began
    std::size_t ended = 0;      ///< less than all if the program deadlocks
    std::size_t events = 0;     ///< number of events that a queue handles
};

/// Plays a graph without a queue of events: where no two flows are on one link at once, every task
/// takes as long as it would alone, and begins when the last of those that it waits for lets it. A
/// task costs some 10 ns instead of 300.
///
/// Returns nothing where flows may share a link, where the graph deadlocks, and where a time is too
/// long: only the event loop knows what is right then. What it returns is to the nanosecond what
/// the event loop finds: up to the first instant at which two flows meet on a link both are the
/// same, and here is no such instant. `in_order`: PlayedTasks::begun is wanted.
std::optional<PlayedTasks> play_longest_path(const TaskGraph& graph,
                                             std::span<const BytesPerSecond> links, bool in_order,
                                             const std::stop_token& stop);

}  // namespace debubble::sim
