#pragma once

#include "exec/cpu/loops/operands.h"

/// The nonlinearities of MLPs, element by element. Shapes: all operands are [tokens, ffn]. None has
/// weights, so there is no backward_weight.
namespace debubble::exec::loops {

void activation_forward(Nonlinearity kind, In x, Out y);

/// dx may be dy: the gradient is then replaced in place.
void activation_backward_input(Nonlinearity kind, In dy, In x, Out dx);

/// y = x times the sigmoid of gate; all operands are alike.
void output_gate_forward(In x, In gate, Out y);
void output_gate_backward_input(In dy, In x, In gate, Out dx, Out dgate);

/// y = cap tanh(x / cap); y may be x, and dx dy or x.
void soft_cap_forward(double cap, In x, Out y);
void soft_cap_backward_input(double cap, In dy, In x, Out dx);

/// y = f(gate) * up with f as `kind` says (Shazeer 2020, "GLU Variants").
void gated_forward(Gate kind, In gate, In up, Out y);

void gated_backward_input(Gate kind, In dy, In gate, In up, Out dgate, Out dup);

/// The same where one product made both: rows of gate_up, dgate_up [tokens, 2 ffn] hold the gates,
/// then up.
void gated_forward(Gate kind, In gate_up, Out y);

void gated_backward_input(Gate kind, In dy, In gate_up, Out dgate_up);

}  // namespace debubble::exec::loops
