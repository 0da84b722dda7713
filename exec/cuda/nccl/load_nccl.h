#pragma once

#include <memory>
#include <optional>
#include <string>

#include "exec/cuda/nccl/setup.h"

namespace debubble::exec {

/// Why there is no NCCL to use, in one sentence; nothing if there is.
std::optional<std::string> why_no_nccl();

/// A communicator of GPUs' memory by NCCL, for lanes of the CUDA module's devices; the setup needs
/// no stream_of. Collective over the host's ranks. Throws WorldError.
std::unique_ptr<Communicator> connect_nccl(nccl::Setup setup);

}  // namespace debubble::exec
