#pragma once

#include "exec/core/interpreter/step_record.h"
#include "exec/core/stage/stage_runner.h"

namespace debubble::exec {

/// A pass of a pair and its name in the record.
struct Turn {
    const Compute& action;
    PassInTurns& pass;
};

/// Runs a forward and a backward of two microbatches layer beside layer, in the order in which
/// Megatron-Core issues their parts (Megatron-LM d98e8a6, core/models/common/
/// model_chunk_schedule_plan.py): the forward's i-th layer beside the backward's i-th from its end.
/// Each exchange between experts is asked for as soon as its pass comes to it, and is waited for
/// when the pass goes on, so that the other pass computes meanwhile. Ranks that share experts run
/// the same pairs and so ask for exchanges in the same order.
///
/// What comes before the layers and after them runs beside nothing (models/graph/turns.h).
void run_in_turns(const Turn& forward, const Turn& backward, Recorder& recorder);

}  // namespace debubble::exec
