#pragma once

#include "exec/cpu/loops/operands.h"

/// Normalisation over the last dimension.
namespace debubble::exec::loops {

// Layer normalisation (Ba, Kiros, Hinton 2016), over the last dimension: y = (x - mean) /
// sqrt(variance + eps) * weight + bias. Shapes: x, y [tokens, hidden], weight and bias [hidden],
// statistics [tokens, 2]: mean and reciprocal deviation of each token, which the backward reads.

void layer_norm_forward(double eps, In x, In weight, In bias, Out y, Out statistics);

/// Adding is for the residual stream, whose gradient dx already holds.
void layer_norm_backward_input(In dy, In x, In weight, In statistics, Out dx, Write write);

void layer_norm_backward_weight(In dy, In x, In statistics, Out dweight, Out dbias);

// Root mean square normalisation (Zhang and Sennrich 2019), over the last dimension: y = x /
// sqrt(mean(x^2) + eps) * weight. Shapes: x, y [tokens, hidden], weight [hidden], statistics
// [tokens]: the factor by which each token was scaled, which the backward reads.

void rms_norm_forward(double eps, In x, In weight, Out y, Out statistics);

/// Adding is for the residual stream, whose gradient dx already holds.
void rms_norm_backward_input(In dy, In x, In weight, In statistics, Out dx, Write write);

void rms_norm_backward_weight(In dy, In x, In statistics, Out dweight);

}  // namespace debubble::exec::loops
