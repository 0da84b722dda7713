#pragma once

#include <cstdint>
#include <vector>

#include "base/packed_rows.h"
#include "sim/engine/cost_model.h"
#include "trace/trace.h"

/// A program as tasks and edges: an edge says which task must have begun or ended before another
/// begins. Streams are edges too, so the engine needs nothing but counters.
namespace debubble::sim {

using TaskId = std::int32_t;
inline constexpr TaskId kNoTask = -1;

/// A compute, a transfer (one Send with its Recv), a collective (one action on every rank of its
/// group) or a copy; or work that runs at the same time as one: a part of a collective, the traffic
/// of a pass, a delay.
struct Task {
    Lane lane = Lane::Compute;    ///< Send stands for a transfer
    bool is_flow = false;         ///< its cost is one of flows, else one of compute_costs
    std::int16_t step = 0;        ///< training step, from 0
    std::int32_t cost = 0;        ///< index into flows or compute_costs of the graph
    std::int32_t open_edges = 0;  ///< number of edges that must fire before it begins
};

/// The successors of every task.
using Successors = PackedRows<TaskId, TaskId>;

/// The tasks between whose start and end an action runs. They are the same task if nothing that it
/// must wait for runs at the same time.
struct ActionTasks {
    TaskId first = kNoTask;
    TaskId last = kNoTask;
};

struct TaskGraph {
    std::vector<Task> tasks;
    /// The tasks of every action of the first step, by rank and position.
    std::vector<std::vector<ActionTasks>> tasks_of;
    Successors after_begin;  ///< tasks that wait for the start of a task
    Successors after_end;
    std::vector<ComputeCost> compute_costs;
    std::vector<Flow> flows;
};

}  // namespace debubble::sim
