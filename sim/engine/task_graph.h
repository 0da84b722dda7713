#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/cost_model.h"
#include "trace/trace.h"

/// A program as tasks and the edges between them: what must have begun or
/// ended before a task begins. Streams are edges too, so the engine needs
/// nothing but counters.
namespace debubble::sim {

using TaskId = std::int32_t;
inline constexpr TaskId kNoTask = -1;

/// A compute, a transfer (one Send with its Recv), a collective (one action on
/// every rank of its group) or a copy; or what runs beside one: a part of a collective, the
/// traffic of a pass, a delay.
struct Task {
    Lane lane = Lane::Compute;    ///< Send stands for a transfer
    bool is_flow = false;         ///< its cost is one of flows, else one of compute_costs
    std::int16_t step = 0;        ///< training step, from 0
    std::int32_t cost = 0;        ///< index into TaskGraph::flows or ::compute_costs
    std::int32_t open_edges = 0;  ///< that must fire before it begins
};

/// Successors of every task, packed.
class Successors {
public:
    void add(TaskId from, TaskId to) { edges_.push_back({from, to}); }
    void pack(std::size_t tasks);
    std::span<const TaskId> of(TaskId task) const {
        return {targets_.data() + begin_[task],
                static_cast<std::size_t>(begin_[task + 1] - begin_[task])};
    }

private:
    struct Edge {
        TaskId from;
        TaskId to;
    };
    std::vector<Edge> edges_;
    std::vector<std::int32_t> begin_;
    std::vector<TaskId> targets_;
};

/// The tasks between whose begin and end an action runs. One, where nothing runs beside it that
/// it must wait for.
struct ActionTasks {
    TaskId first = kNoTask;
    TaskId last = kNoTask;
};

struct TaskGraph {
    std::vector<Task> tasks;
    /// Those of every action of the first step, by rank and position.
    std::vector<std::vector<ActionTasks>> tasks_of;
    Successors after_begin;  ///< tasks that wait for the begin of a task
    Successors after_end;
    std::vector<ComputeCost> compute_costs;
    std::vector<Flow> flows;
};

}  // namespace debubble::sim
