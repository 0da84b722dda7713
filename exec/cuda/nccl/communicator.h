#pragma once

#include <memory>

#include "exec/core/communicator/communicator.h"
#include "exec/cuda/nccl/calls.h"
#include "exec/cuda/nccl/plan.h"

namespace debubble::exec::nccl {

/// A communicator over the ranks of `host` for tensors of their GPUs' memory: a communicator of
/// NCCL and a lane for every edge that messages take, and for every group. `host` carries
/// ids, and a word of each communication, by which all ranks know that all have come, and that
/// they mean the same. All ranks call this together; the references must outlive it.
///
/// A request's wait() returns when all have asked, and lets the kernels wait for the bytes. A
/// stream that does not come to its end within `patience` ends the job on all ranks.
///
/// Unlike others, reductions add in NCCL's order and precision, 16-bit types rounded at each
/// addition: every rank gets the same bits, and every run with the same ranks, GPUs, library and
/// settings, but not those of another communicator. NCCL's maximum may lose a NaN.
///
/// The plan is of its groups; itself it is for collectives. Edges that the plan does not name are
/// made when they are first used, which their two ends then must do in the same order.
std::unique_ptr<Communicator> connect(Communicator& host, DeviceLanes& lanes,
                                      std::unique_ptr<Calls> calls, const Plan& plan,
                                      std::chrono::nanoseconds patience);

}  // namespace debubble::exec::nccl
