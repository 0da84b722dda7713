#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "exec/core/arena.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/interpreter/step_record.h"
#include "exec/core/stage/stage_runner.h"
#include "exec/core/stage/step_actions.h"
#include "exec/core/stage/step_inputs.h"
#include "schedule/schedule.h"
#include "trace/action_log.h"

/// The interpreter of Programs: what the simulator plays, carried out.
namespace debubble::exec {

/// What the actions of one rank act on.
struct RankSide {
    const Program& program;
    Rank rank;                 ///< the pipeline rank whose list this is
    std::int32_t replica = 0;  ///< which of the symmetric pipelines
    Communicator& pipeline;    ///< the ranks of this pipeline; position r is pipeline rank r
    std::span<StageRunner* const> stages;  ///< as program.placement lists them for the rank
    StepActions& actions;
    Arena& arena;
    DeviceLanes* lanes = nullptr;  ///< of the rank's device, which then tells the times
    bool device_moves = false;     ///< messages, by itself (Communicator::on_device)
    /// Of the stages and actions too, who tell it what they do: begun anew with each step.
    ActionLog* log = nullptr;
};

/// When a receive is asked for.
enum class ReceivePosting : std::uint8_t {
    Early,        ///< when the compute that stands before it in the list starts
    InListOrder,  ///< when the list comes to it: for Transport::IssueOrdered
};

struct StepOptions {
    std::chrono::nanoseconds patience = std::chrono::minutes(5);  ///< of every single wait
    ReceivePosting posting = ReceivePosting::Early;
};

/// Carries out the rank's list once, on the calling thread: computes in their order, a
/// compute once its own receives, gathers and reloads are there; a send as soon as its operand
/// is made, without holding up a compute; reductions beside the computes of other stages.
/// All ranks of the job call it, or those that do wait until their patience ends.
///
/// When it returns, the step is over and the rank holds no more activations than before.
/// If anything throws, all ranks of the job end with that sentence, and it is thrown on.
/// A wait that is too long throws DeadlinePassed: "rank 2 waited 30 s for 1RECV_F3 from
/// rank 1: rank 1 has not come to it".
///
/// With a device, the host only asks, ahead of it. It waits for it when the norm must be known, if
/// the arena is full of what is being sent, and at the end; for another rank's host when it comes
/// to a message or a collective that this one has not asked for yet. A device that does not get on
/// throws DeadlinePassed too, with what each of its lanes did last and has not done.
///
/// Precondition: validate(program) is empty.
StepRecord run_step(const RankSide& side, const StepInputs& inputs, const StepOptions& options);

}  // namespace debubble::exec
