#pragma once

#include "exec/cpu/loops/operands.h"

/// Sums of activations of one shape.
namespace debubble::exec::loops {

/// y = x + branch; y may be either of them. Both gradients are dy.
void residual_forward(In x, In branch, Out y);

/// total += term: the sum of a gradient's parts from its several uses.
void add(In term, Out total);

}  // namespace debubble::exec::loops
