#pragma once

#include "exec/cuda/kernels/operands.h"

/// The launchers of operators inside layers: elementwise operators, norms, copies and dropout.
namespace debubble::exec::cuda {

// Elementwise operators. All operands of a call have `n` elements.

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

// LayerNorm and RMSNorm over rows of `hidden` elements, and sums over rows.
// statistics: fp32 [rows, 2] of LayerNorm (mean, 1 / deviation), [rows] of RMSNorm.

enum class Norm : std::uint8_t { Layer, Rms };

struct NormShape {
    Norm kind{};
    std::int64_t rows = 0;
    std::int64_t hidden = 0;
    std::int64_t x_columns = 0;  ///< of x and dx, whose first `hidden` are normalised
};

/// The input of a norm: x, or, if `branch` is not empty, x + branch, which `sum` keeps, with rows
/// of `hidden` elements.
struct NormInput {
    Operand x;
    Operand branch = {};
    Result sum = {};
};

/// `bias` is empty for RMSNorm, and may be. y may be the branch.
void norm_forward(Stream stream, const NormShape& shape, float eps, const NormInput& input,
                  Operand weight, Operand bias, Result y, float* statistics);
/// dx = the gradient, plus `through` if it is not empty; dx may be `through`.
void norm_backward_input(Stream stream, const NormShape& shape, Operand dy, Operand x,
                         Operand weight, const float* statistics, Operand through, Result dx);
/// dweight [hidden] += the sum over the rows of dy times the normalised x; dbias of LayerNorm +=
/// the sum of dy, unless it is empty. `partials`: fp32 [chunks_of(rows), hidden], two of them for
/// LayerNorm.
void norm_backward_weight(Stream stream, const NormShape& shape, Operand dy, Operand x,
                          const float* statistics, float* partials, Result dweight, Result dbias);

/// total [columns] += the sum of x [rows, columns] over the rows. `partials`: fp32
/// [chunks_of(rows), columns].
void add_column_sums(Stream stream, std::int64_t rows, std::int64_t columns, Operand x,
                     float* partials, Result total);
/// The same with a factor fp32 [rows] for each row.
void add_weighted_column_sums(Stream stream, std::int64_t rows, std::int64_t columns, Operand x,
                              const float* factors, float* partials, Result total);

// Copies of rows, dropout and patches.

/// The place of [outer, rows, columns] in a larger array, in elements.
struct Strides {
    std::int64_t outer = 0;
    std::int64_t row = 0;
    std::int64_t first = 0;  ///< index of the element [0, 0, 0]
};

struct Rows {
    std::int64_t outer = 1;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    std::int64_t elements() const { return outer * rows * columns; }
};

/// Copies, and converts types.
void copy_rows(Stream stream, const Rows& which, Operand from, const Strides& from_strides,
               Result to, const Strides& to_strides);

/// The place of elements [samples, rows, columns] within the activation of a step, and their
/// dropout, as in exec/core/operator_options.h.
struct DropoutNumbers {
    std::uint64_t seed = 0;
    std::uint64_t stream = 0;
    std::uint32_t threshold = 0;
    float scale = 1;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t all_rows = 0;
    std::int64_t all_columns = 0;
    std::int64_t first_sample = 0;
    std::int64_t first_row = 0;
    std::int64_t first_column = 0;
};
void dropout(Stream stream, std::int64_t n, const DropoutNumbers& how, Operand x, Result y);

/// images [samples, channels, height, width] -> patches, as exec/core/kernels/ends.h.
struct Images {
    std::int64_t samples = 0;
    std::int64_t channels = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t side = 0;  ///< side of a patch
};
void cut_patches(Stream stream, const Images& how, Operand images, Result patches);

}  // namespace debubble::exec::cuda
