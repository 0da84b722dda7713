#pragma once

#include "exec/cuda/kernels/operands.h"

/// LayerNorm and RMSNorm over rows of `hidden` elements, and sums over rows.
/// statistics: fp32 [rows, 2] of LayerNorm (mean, 1 / deviation), [rows] of RMSNorm.
namespace debubble::exec::cuda {

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

}  // namespace debubble::exec::cuda
