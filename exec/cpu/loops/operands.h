#pragma once

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"

/// The operators that every back end of the processor computes by the same loops: functions over
/// views of fp32, one for each of forward, backward_input and backward_weight.
///
/// * `dx` is the gradient of the loss with respect to `x`.
/// * backward_weight always adds into the gradient, one term after the other in row
///   order, so two microbatches one after the other leave the bits of one that holds both.
/// * backward_input overwrites, except where a `Write` argument says otherwise.
/// * Operands that are not changed are In; an In that an operator may lack is empty.
/// * No operator allocates memory that grows faster than its operands.
namespace debubble::exec::loops {

using In = View<const float>;
using Out = View<float>;

}  // namespace debubble::exec::loops
