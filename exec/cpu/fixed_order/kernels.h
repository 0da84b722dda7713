#pragma once

#include <memory>

#include "exec/core/kernels.h"

namespace debubble::exec {

/// The back end whose bits do not depend on how a batch is cut: a weight's gradient is summed row
/// by row, so two microbatches in turn leave the bits of one that holds both (of 16-bit gradients:
/// only where each microbatch is one call's), and a row of an activation has the bits that it has
/// alone. It computes in the calling thread, with vector instructions over what is not summed.
/// docs/decisions/0024 says which tests rely on it.
std::unique_ptr<Kernels> make_fixed_order_kernels();

}  // namespace debubble::exec
