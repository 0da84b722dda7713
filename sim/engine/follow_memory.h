#pragma once

#include <span>
#include <vector>

#include "schedule/schedule.h"
#include "sim/engine/task_graph.h"
#include "sim/memory/memory_model.h"
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

/// What every rank holds over the first step, from when its tasks ran. Memory
/// never delays a task, so it is added up afterwards. While a compute runs, a class is shown as it
/// is when the compute holds most, so that the classes sum to what is held at every instant.
FollowedMemory follow_memory(const Program& program, const TaskGraph& graph,
                             std::span<const TaskTimes> times, const MemoryModel& memory,
                             bool keep_samples);

}  // namespace debubble::sim
