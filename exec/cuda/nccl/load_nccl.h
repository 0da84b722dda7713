#pragma once

#include <memory>
#include <optional>
#include <string>

#include "exec/cuda/nccl/setup.h"

namespace debubble::exec {

/// The reason why NCCL cannot be used, in one sentence; nothing if it can.
std::optional<std::string> why_no_nccl();

/// Makes a communicator by NCCL for GPUs' memory, on lanes of the CUDA module's devices; the setup
/// needs no stream_of. A collective over the host's ranks. Throws WorldError.
std::unique_ptr<Communicator> connect_nccl(nccl::Setup setup);

}  // namespace debubble::exec
