#pragma once

#include <memory>

#include "exec/core/communicator/communicator.h"
#include "exec/core/kernels.h"
#include "exec/core/pinned_pool.h"

namespace debubble::exec {

/// Carries tensors of a device over a communicator of host memory: each is copied out once the
/// kernels that make it are done, and in when its request is waited for. So every communicator
/// serves every device, with its own order and bits.
///
/// All arguments must outlive the communicator and its groups. A request is waited for on the
/// thread of the kernels; its copies lie in `pinned` memory.
std::unique_ptr<Communicator> stage_through_host(Communicator& world, Kernels& kernels,
                                                 PinnedPool& pinned);

}  // namespace debubble::exec
