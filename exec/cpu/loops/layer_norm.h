#pragma once

#include "exec/cpu/loops/operands.h"

/// Layer normalisation (Ba, Kiros, Hinton 2016), over the last dimension: y = (x - mean) /
/// sqrt(variance + eps) * weight + bias. Shapes: x, y [tokens, hidden], weight and bias [hidden],
/// statistics [tokens, 2]: mean and reciprocal deviation of each token, which the backward reads.
namespace debubble::exec::loops {

void layer_norm_forward(double eps, In x, In weight, In bias, Out y, Out statistics);

/// Adding is for the residual stream, whose gradient dx already holds.
void layer_norm_backward_input(In dy, In x, In weight, In statistics, Out dx, Write write);

void layer_norm_backward_weight(In dy, In x, In statistics, Out dweight, Out dbias);

}  // namespace debubble::exec::loops
