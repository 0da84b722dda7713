#pragma once

#include "exec/core/interpreter/step_record.h"
#include "exec/core/stage/stage_runner.h"

namespace debubble::exec {

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
