#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// Root mean square normalisation (Zhang and Sennrich 2019), over the last dimension: y = x /
/// sqrt(mean(x^2) + eps) * weight. Shapes: x, y [tokens, hidden], weight [hidden], statistics
/// [tokens]: the factor by which each token was scaled, which the backward reads.
namespace debubble::exec::fixed_order {

template <Real T>
void rms_norm_forward(double eps, In<T> x, In<T> weight, Out<T> y, Out<T> statistics);

/// Adding is for the residual stream, whose gradient dx already holds.
template <Real T>
void rms_norm_backward_input(In<T> dy, In<T> x, In<T> weight, In<T> statistics, Out<T> dx,
                             Write write);

template <Real T>
void rms_norm_backward_weight(In<T> dy, In<T> x, In<T> statistics, Out<T> dweight);

}  // namespace debubble::exec::fixed_order
