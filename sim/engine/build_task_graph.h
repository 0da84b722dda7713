#pragma once

#include "schedule/schedule.h"
#include "sim/engine/simulate_options.h"
#include "sim/engine/task_graph.h"
#include "sim/memory/memory_model.h"

namespace debubble::sim {

/// The edges are:
///   compute stream, in list order; a Compute after its own Recv, Unshard, Reload;
///   a transfer after the end of its producer, after the transfer before it on
///   its channel, and after the start of the compute that its Recv comes after; where messages
///   share streams, after the end of that compute, and after the messages before it on the streams
///   of both ends;
///   a reduction after the compute of its stage and the reduction before it, on
///   every rank of its group; an optimizer step after the reductions before it;
///   the hidden part of a reduction some time after the start of the backward, and after the
///   reduction before it, and the reduction's end after it;
///   the hidden parts of the Unshards after an optimizer step from the start of the next step on,
///   one after the other, and the end of a stage's first compute some time after them;
///   the traffic of a pass after its start, and the end of the pass after it;
///   where reductions block, the next compute after the end of a ReduceGrad of a stage with one
///   holder, and the stage's next backward after that of one with several;
///   an Offload after its forward, a Reload after the start of the compute before it,
///   both after the copy before them; where copies block, after the compute before
///   them and before the compute after them.
/// Precondition: validate(program) is empty.
TaskGraph build_task_graph(const Program& program, const CostModel& costs,
                           const MemoryModel& memory, const SimulateOptions& options);

}  // namespace debubble::sim
