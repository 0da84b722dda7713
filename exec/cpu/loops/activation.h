#pragma once

#include "exec/cpu/loops/operands.h"

/// The nonlinearities of MLPs, element by element. Shapes: all operands are [tokens, ffn]. None has
/// weights, so there is no backward_weight.
namespace debubble::exec::loops {

void activation_forward(Nonlinearity kind, In x, Out y);

/// dx may be dy: the gradient is then replaced in place.
void activation_backward_input(Nonlinearity kind, In dy, In x, Out dx);

/// y = silu(gate) * up with silu(z) = z / (1 + e^-z) (Shazeer 2020, "GLU Variants").
void swiglu_forward(In gate, In up, Out y);

void swiglu_backward_input(In dy, In gate, In up, Out dgate, Out dup);

/// The same where one product made both: rows of gate_up, dgate_up [tokens, 2 ffn] hold the gates,
/// then up.
void swiglu_forward(In gate_up, Out y);

void swiglu_backward_input(In dy, In gate_up, Out dgate_up);

}  // namespace debubble::exec::loops
