#pragma once

#include <memory>

#include "exec/core/kernels.h"

namespace debubble::exec {

/// The readable operators of exec/cpu/reference, in the calling thread. A weight's gradient is
/// summed row by row, so two microbatches in turn leave the bits of one that holds both
/// (of 16-bit gradients: only where each microbatch is one call's).
std::unique_ptr<Kernels> make_reference_kernels();

}  // namespace debubble::exec
