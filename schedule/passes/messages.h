#pragma once

#include <functional>

#include "schedule/lower_options.h"
#include "schedule/schedule.h"

namespace debubble {

/// Sends and receives in step, as PyTorch places them (torch.distributed.pipelining.schedules,
/// _add_send_recv): the computes are played in turns of one per rank; a send comes after the
/// compute that makes its message, and its receive at the point that the other rank has reached.
/// All ranks then list their messages in parts of one order, which every Transport plays to its
/// end. A message that is received before its use waits in its buffer. Computes that wait in a
/// cycle keep their order, and their receives come last.
Schedule add_send_recv_in_step(Schedule compute_only);

/// Sends and receives in batches, as Megatron-LM's schedules call for them
/// (megatron/core/pipeline_parallel/schedules.py, d98e8a6): what a compute has made is sent, and
/// what the next one needs is received, at once; where ranks have several chunks, between one
/// forward with the backward after it and the next two.
Schedule add_send_recv_in_batches(Schedule compute_only);

struct InTime {
    Schedule schedule;
    bool finishes = true;  ///< under every Transport
};
/// The result of receive_in_time().
InTime received_in_time(Schedule schedule);

/// Adds sends and receives as the options say, then the `rest` of the passes, then
/// receive_in_time(). Where that would deadlock, messages are in step, which computes in every
/// order that PyTorch plays need. On streams that messages share they always are (Pair, Group), as
/// PyTorch has them, or where batches beside the computes would not meet (Batched).
Schedule with_messages(const Schedule& compute_only, const LowerOptions& options,
                       const std::function<Schedule(Schedule)>& rest);

}  // namespace debubble
