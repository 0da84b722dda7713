#pragma once

#include "exec/core/random_stream.h"
#include "exec/cpu/loops/operands.h"

/// Elementwise operators: nonlinearities, dropout, sums, biases, and columns.
namespace debubble::exec::loops {

// The nonlinearities of MLPs, element by element. Shapes: all operands are [tokens, ffn]. None has
// weights, so there is no backward_weight.

void activation_forward(Nonlinearity kind, In x, Out y);

/// dx may be dy: the gradient is then replaced in place.
void activation_backward_input(Nonlinearity kind, In dy, In x, Out dx);

/// y = x times the sigmoid of gate; all operands have the same shape.
void output_gate_forward(In x, In gate, Out y);
void output_gate_backward_input(In dy, In x, In gate, Out dx, Out dgate);

/// y = cap tanh(x / cap); y may be x, and dx dy or x.
void soft_cap_forward(double cap, In x, Out y);
void soft_cap_backward_input(double cap, In dy, In x, Out dx);

/// y = f(gate) * up with f as `kind` says (Shazeer 2020, "GLU Variants").
void gated_forward(Gate kind, In gate, In up, Out y);

void gated_backward_input(Gate kind, In dy, In gate, In up, Out dgate, Out dup);

/// The same where one GEMM made both: rows of gate_up, dgate_up [tokens, 2 ffn] hold the gates,
/// then up.
void gated_forward(Gate kind, In gate_up, Out y);

void gated_backward_input(Gate kind, In dy, In gate_up, Out dgate_up);

// Dropout without a stored mask: whether an element is dropped is a function of the stream and of
// the element's place in the whole activation, not of the rank, slice or microbatch that holds it.

/// Scales `count` contiguous elements, the first one at `element` of the stream, by 0 or by
/// dropout.scale(). `from` and `to` may be the same.
void drop_run(const Dropout& dropout, std::uint64_t element, std::int64_t count, const float* from,
              float* to);

// Sums of activations of one shape.

/// y = x + branch; y may be either of them. Both gradients are dy.
void residual_forward(In x, In branch, Out y);

/// total += term: the sum of a gradient's parts from its several uses.
void add(In term, Out total);

// The bias of a linear layer.

/// y += bias, to every row.
void add_bias(In bias, Out y);

/// total [columns] += the sum of x [rows, columns] over its rows, in their order.
void add_rows(In x, Out total);

// Conversion between whole rows and the columns of them that tensor-parallel ranks have. Shapes: x
// [rows, columns], part [rows, columns / parts].

/// gathered: the parts one after the other, as an all-gather leaves them.
void join_columns(int parts, In gathered, Out x);

void take_columns(int part, int parts, In x, Out y);

}  // namespace debubble::exec::loops
