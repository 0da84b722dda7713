#pragma once

#include "exec/cpu/fixed_order/operands.h"

/// The nonlinearities of MLPs, element by element. Shapes: all operands are [tokens, ffn]. None has
/// weights, so there is no backward_weight.
namespace debubble::exec::fixed_order {

template <Real T>
void activation_forward(Nonlinearity kind, In<T> x, Out<T> y);

/// dx may be dy: the gradient is then replaced in place.
template <Real T>
void activation_backward_input(Nonlinearity kind, In<T> dy, In<T> x, Out<T> dx);

/// y = silu(gate) * up with silu(z) = z / (1 + e^-z) (Shazeer 2020, "GLU Variants").
template <Real T>
void swiglu_forward(In<T> gate, In<T> up, Out<T> y);

template <Real T>
void swiglu_backward_input(In<T> dy, In<T> gate, In<T> up, Out<T> dgate, Out<T> dup);

/// The same where one product made both: rows of gate_up, dgate_up [tokens, 2 ffn] hold the gates,
/// then up.
template <Real T>
void swiglu_forward(In<T> gate_up, Out<T> y);

template <Real T>
void swiglu_backward_input(In<T> dy, In<T> gate_up, Out<T> dgate_up);

}  // namespace debubble::exec::fixed_order
