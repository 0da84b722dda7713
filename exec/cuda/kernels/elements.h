#pragma once

#include "exec/cuda/kernels/operands.h"

/// Operators that take elements one by one. All operands of a call have `n` elements.
namespace debubble::exec::cuda {

void convert(Stream stream, std::int64_t n, Operand from, Result to);
/// y may be a or b.
void sum(Stream stream, std::int64_t n, Operand a, Operand b, Result y);
void scale(Stream stream, std::int64_t n, float factor, Result x);
/// y [rows, columns] += bias [columns].
void add_bias(Stream stream, std::int64_t rows, std::int64_t columns, Operand bias, Result y);

/// The nonlinearities of exec/core/operator_options.h, and those of gates.
enum class Curve : std::uint8_t { Gelu, GeluTanh, Relu, SquaredRelu, Silu, ClampedSilu };
inline constexpr float kCurveLimit = 7;  ///< of ClampedSilu: Gate's kGateLimit and kGateSlope
inline constexpr float kCurveSlope = 1.702F;
void activation_forward(Stream stream, Curve curve, std::int64_t n, Operand x, Result y);
void activation_backward_input(Stream stream, Curve curve, std::int64_t n, Operand dy, Operand x,
                               Result dx);

/// y = x sigmoid(gate).
void output_gate_forward(Stream stream, std::int64_t n, Operand x, Operand gate, Result y);
void output_gate_backward(Stream stream, std::int64_t n, Operand dy, Operand x, Operand gate,
                          Result dx, Result dgate);

/// y = cap tanh(x / cap); dx may be dy or x.
void soft_cap_forward(Stream stream, float cap, std::int64_t n, Operand x, Result y);
void soft_cap_backward(Stream stream, float cap, std::int64_t n, Operand dy, Operand x, Result dx);

/// y [tokens, ffn] = curve(gate) * up; gate_up [tokens, 2 ffn].
void gated_forward(Stream stream, Curve curve, std::int64_t tokens, std::int64_t ffn,
                   Operand gate_up, Result y);
void gated_backward_input(Stream stream, Curve curve, std::int64_t tokens, std::int64_t ffn,
                          Operand dy, Operand gate_up, Result dgate_up);

}  // namespace debubble::exec::cuda
