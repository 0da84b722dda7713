#pragma once

#include <functional>
#include <memory>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec::parity {

using Connect = std::function<std::unique_ptr<Communicator>()>;

/// One process of a job: all cases of parity_cases.h that have its number of ranks. The arguments
/// are GoogleTest's, then the patience of waits in seconds. Returns the exit code.
int run_parity(int argc, char** argv, const Connect& connect);

}  // namespace debubble::exec::parity
