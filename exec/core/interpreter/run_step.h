#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "exec/core/arena.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/interpreter/step_record.h"
#include "exec/core/stage/stage_runner.h"
#include "exec/core/stage/step.h"
#include "schedule/schedule.h"
#include "trace/action_log.h"

/// The interpreter of Programs: it carries out what the simulator plays.
namespace debubble::exec {

/// The objects on which the actions of one rank work.
struct RankSide {
    const Program& program;
    Rank rank;                 ///< the pipeline rank whose list this is
    std::int32_t replica = 0;  ///< index among the symmetric pipelines
    Communicator& pipeline;    ///< the ranks of this pipeline; position r is pipeline rank r
    /// The rank's stages in the order of program.placement.
    std::span<StageRunner* const> stages;
    StepActions& actions;
    Arena& arena;
    DeviceLanes* lanes = nullptr;  ///< lanes of the rank's device, which then gives the times
    /// Whether the device moves messages by itself (Communicator::on_device).
    bool device_moves = false;
    /// Whether the two passes of an Overlap run together, layer by layer.
    bool pairs_layers = false;
    /// The log, which each step starts from empty; stages and actions write to it, too.
    ActionLog* log = nullptr;
};

/// The time at which a receive is asked for.
enum class ReceivePosting : std::uint8_t {
    Early,        ///< when the compute before it in the list starts
    InListOrder,  ///< when the list comes to it: for Transport::IssueOrdered
};

struct StepOptions {
    std::chrono::nanoseconds patience = std::chrono::minutes(5);  ///< of every single wait
    ReceivePosting posting = ReceivePosting::Early;
};

/// Carries out the rank's list once, on the calling thread. Computes run in their order, each once
/// its own receives, gathers and reloads are there; a send starts as soon as its operand is made,
/// without holding up a compute; reductions run at the same time as the computes of other stages.
/// All ranks of the job call it; ranks that do would otherwise wait until their patience ends.
///
/// When it returns, the step is over and the rank holds no more activations than before. If
/// anything throws, all ranks of the job end with that sentence, and it is thrown on. A wait that
/// is too long throws DeadlinePassed: "rank 2 waited 30 s for 1RECV_F3 from rank 1: rank 1 has not
/// reached it".
///
/// With a device, the host only asks, ahead of the device. The host waits for its device when the
/// norm must be known, if the arena is full of bytes that are being sent, and at the end; it waits
/// for another rank's host when that comes to a message or a collective that this one has not asked
/// for yet. A device that makes no progress throws DeadlinePassed too, with the last work that each
/// of its lanes has done and the first that it has not.
///
/// Precondition: validate(program) is empty.
StepRecord run_step(const RankSide& side, const StepInputs& inputs, const StepOptions& options);

/// One pass of a pair, and its action in the record.
struct OverlapSide {
    const Compute& action;
    OverlappedPass& pass;
};

/// Runs a forward and a backward of two microbatches layer by layer together, in the order in which
/// Megatron-Core issues their parts (Megatron-LM d98e8a6, core/models/common/
/// model_chunk_schedule_plan.py): the forward's i-th layer with the backward's i-th layer from the
/// end. Each all-to-all between experts is launched as soon as its pass reaches it, and awaited
/// when the pass goes on, so that it overlaps the other pass's computation. Ranks that share
/// experts run the same pairs and so launch their all-to-alls in the same order.
///
/// Operators before and after the layers do not overlap the other pass (models/graph/turns.h).
void run_overlap(const OverlapSide& forward, const OverlapSide& backward, Recorder& recorder);

}  // namespace debubble::exec
