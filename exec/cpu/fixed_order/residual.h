#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// Sums of activations of one shape.
namespace debubble::exec::fixed_order {

/// y = x + branch; y may be either of them. Both gradients are dy.
template <Real T>
void residual_forward(In<T> x, In<T> branch, Out<T> y);

/// total += term: the sum of a gradient's parts from its several uses.
template <Real T>
void add(In<T> term, Out<T> total);

}  // namespace debubble::exec::fixed_order
