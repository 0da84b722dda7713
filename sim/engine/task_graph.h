#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.h"
#include "sim/engine/cost_model.h"
#include "sim/engine/simulate_options.h"
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

/// The edges:
///   compute stream, in list order; a Compute after its own Recv, Unshard, Reload;
///   a transfer after the end of its producer, after the transfer before it on
///   its channel, and after the begin of the compute that its Recv stands behind;
///   a reduction after the compute of its stage and the reduction before it, on
///   every rank of its group; an optimizer step after the reductions before it;
///   the hidden part of a reduction some time after the begin of the backward, and after the
///   reduction before it, and the reduction's end after it;
///   the hidden parts of the Unshards behind an optimizer step from the begin of the next step on,
///   one after the other, and the end of a stage's first compute some time after them;
///   the traffic of a pass after its begin, and the end of the pass after it;
///   where reductions block, the next compute after the end of a ReduceGrad of a stage with one
///   holder, and the stage's next backward after that of one with several;
///   an Offload after its forward, a Reload after the begin of the compute before it,
///   both after the copy before them; where copies block, after the compute before
///   them and before the compute behind them.
/// Precondition: validate(program) is empty.
TaskGraph build_task_graph(const Program& program, const CostModel& costs,
                           const SimulateOptions& options);

}  // namespace debubble::sim
