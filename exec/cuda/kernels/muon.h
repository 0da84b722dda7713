#pragma once

#include "exec/cuda/kernels/operands.h"

/// Muon's step without its products (exec/core/kernels/muon.h). The whole matrix is fp32.
namespace debubble::exec::cuda {

/// The place of [rows, columns] in a flat tensor and in the whole matrix, in elements.
struct SliceOfMatrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t first = 0;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 1;
    std::int64_t first_in_whole = 0;
    std::int64_t whole_row = 0;
    std::int64_t elements() const { return rows * columns; }
};

struct MomentumNumbers {
    float factor = 1;    ///< on the gradient
    float momentum = 0;  ///< its share that stays
    bool nesterov = false;
};
void muon_momentum(Stream stream, const SliceOfMatrix& slice, const MomentumNumbers& numbers,
                   Operand gradient, Result moment, float* whole);

/// Writes `main` in the type of `parameter` to `parameter`, unless that is empty.
void muon_step(Stream stream, const SliceOfMatrix& slice, float kept, float rate,
               const float* whole, Result main, Result parameter);

/// x /= root of squares [1] + least.
void divide_by_root(Stream stream, std::int64_t n, const double* squares, double least, float* x);

/// y = a x + b y.
void combine(Stream stream, std::int64_t n, float a, const float* x, float b, float* y);

}  // namespace debubble::exec::cuda
