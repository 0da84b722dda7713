#pragma once

#include <memory>

#include "exec/core/communicator/communicator.h"
#include "exec/cuda/nccl/calls.h"
#include "exec/cuda/nccl/plan.h"

namespace debubble::exec::nccl {

/// A communicator over the ranks of `host` for tensors in their GPUs' memory: a communicator of
/// NCCL and a lane for every edge that messages take, and for every group. `host` carries ids, and
/// a word of each communication, from which all ranks know that all have come and that they mean
/// the same one. All ranks call this together; the references must outlive it.
///
/// A request's wait() returns when all have asked, and lets the kernels wait for the bytes. A
/// stream that makes no progress within `patience` ends the job on all ranks.
///
/// Unlike in other communicators, reductions add in NCCL's order and precision, with 16-bit types
/// rounded at each addition: every rank gets the same bits, and so does every run with the same
/// ranks, GPUs, library and settings, but they are not the bits of another communicator. NCCL's
/// maximum may lose a NaN.
///
/// The plan describes its groups; the communicator itself is for collectives. Edges that the plan
/// does not name are made when they are first used, which their two ends must do in the same order.
std::unique_ptr<Communicator> connect(Communicator& host, DeviceLanes& lanes,
                                      std::unique_ptr<Calls> calls, const GroupPlan& plan,
                                      std::chrono::nanoseconds patience);

}  // namespace debubble::exec::nccl
