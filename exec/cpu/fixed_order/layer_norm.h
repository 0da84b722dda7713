#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// Layer normalisation (Ba, Kiros, Hinton 2016), over the last dimension: y = (x - mean) /
/// sqrt(variance + eps) * weight + bias. Shapes: x, y [tokens, hidden], weight and bias [hidden],
/// statistics [tokens, 2]: mean and reciprocal deviation of each token, which the backward reads.
namespace debubble::exec::fixed_order {

template <Real T>
void layer_norm_forward(double eps, In<T> x, In<T> weight, In<T> bias, Out<T> y, Out<T> statistics);

/// Adding is for the residual stream, whose gradient dx already holds.
template <Real T>
void layer_norm_backward_input(In<T> dy, In<T> x, In<T> weight, In<T> statistics, Out<T> dx,
                               Write write);

template <Real T>
void layer_norm_backward_weight(In<T> dy, In<T> x, In<T> statistics, Out<T> dweight, Out<T> dbias);

}  // namespace debubble::exec::fixed_order
