#pragma once

#include <span>
#include <vector>

#include "schedule/schedule.h"
#include "sim/engine/task_graph.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/rank_ledger.h"
#include "trace/trace.h"

namespace debubble::sim {

struct TaskTimes {
    Instant begin;
    Instant end;
};

struct FollowedMemory {
    std::vector<MemorySample> samples;  ///< by rank, then by time
    std::vector<MemoryPeak> peaks;      ///< one per rank
};

/// The times of a rank's actions, given those of the tasks between which they run.
std::vector<ActionTimes> times_of(std::span<const ActionTasks> tasks,
                                  std::span<const TaskTimes> times);

/// The memory that every rank holds over the first step, given the times of its actions, by rank.
/// Memory never delays a task, so it is added up afterwards. While a compute runs, each class is
/// shown at the compute's greatest level, so that the classes sum to the total at every instant.
FollowedMemory follow_memory(const Program& program,
                             const std::vector<std::vector<ActionTimes>>& times,
                             const MemoryModel& memory, bool keep_samples);

}  // namespace debubble::sim
