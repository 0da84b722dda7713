#pragma once

#include "schedule/lower_options.h"

/// The passes of lowering, each in a file of this folder. lower.cpp has them in order, with the
/// reasons for it.
namespace debubble {

/// Sends and receives at the computes that make and need their messages.
Schedule add_send_recv(Schedule compute_only, const LowerOptions& options);

/// Sends and receives in step, as PyTorch places them (torch.distributed.pipelining.schedules,
/// _add_send_recv): the computes are executed in rounds of one per rank; a send follows the compute
/// that makes its message, and its receive is placed where the other rank is in that round. All
/// ranks then list their messages in parts of one order, which every Transport carries out to its
/// end. A message that is received before its use waits in its buffer. Computes that wait in a
/// cycle keep their order, and their receives come last.
Schedule add_send_recv_in_step(Schedule compute_only);

/// Sends and receives in batches, as Megatron-LM's schedules issue them
/// (megatron/core/pipeline_parallel/schedules.py, d98e8a6): the results of a compute are sent, and
/// the inputs of the next one are received, in one batch; where ranks have several chunks, batches
/// lie between one forward with the backward after it and the next two.
Schedule add_send_recv_in_batches(Schedule compute_only);

Schedule add_reduce_grad(Schedule sending, const LowerOptions& options);
Schedule add_tied_grad(Schedule sending, const LowerOptions& options);
Schedule add_optimizer(Schedule sending, const LowerOptions& options);
/// Expects the optimizer step, after which ZeRO-1 and 2 gather.
Schedule add_unshard_reshard(Schedule stepping, const LowerOptions& options);

/// Lists receives earlier where a ring of ranks would deadlock because each has sent more than the
/// next one has requested. Batches stay as they are. Records whether the program finishes.
void receive_in_time(Lowering& lowering);

}  // namespace debubble
