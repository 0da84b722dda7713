#pragma once

#include "exec/cuda/kernels/operands.h"

/// The launchers of optimizers' steps.
namespace debubble::exec::cuda {

// Steps of optimizers on flat shards: one kernel for all contiguous parameters. The
// numbers are those of exec/cpu/loops/optimizer.cpp, made once per step.

struct AdamNumbers {
    float step_size = 0;  ///< lr / (1 - beta1^t)
    float root2 = 1;      ///< sqrt(1 - beta2^t)
    float beta1 = 0;
    float beta2 = 0;
    float rest1 = 1;  ///< 1 - beta1
    float rest2 = 1;
    float eps = 0;
    float unscale = 1;   ///< factor on the gradient: loss scale and clipping
    float coupled = 0;   ///< weight decay through the gradient
    float kept = 1;      ///< factor that AdamW's decay leaves of a weight's distance to the centre
    float returned = 0;  ///< centre (1 - kept)
    float centre = 0;    ///< value that decay pulls weights to
};
/// Writes `main` in the type of `parameter` to `parameter`, unless that is empty.
void adam_step(Stream stream, std::int64_t n, const AdamNumbers& numbers, Operand gradient,
               Result main, Result first_moment, Result second_moment, Result parameter);

struct SgdNumbers {
    float lr = 0;
    float unscale = 1;
    float decay = 0;
    float centre = 0;  ///< value that decay pulls weights to
    float momentum = 0;
    float taken = 1;    ///< 1 - dampening; 1 in the first step
    bool first = true;  ///< whether the velocity is overwritten
    bool nesterov = false;
};
void sgd_step(Stream stream, std::int64_t n, const SgdNumbers& numbers, Operand gradient,
              Result main, Result velocity, Result parameter);

/// total [1] += the sum of squares in fp64. `partials`: fp64 [kMaxPartials].
void add_sum_of_squares(Stream stream, std::int64_t n, Operand x, double* partials, double* total);

// Muon's step without its GEMMs (exec/core/kernels/optimizer.h). The whole matrix is fp32.

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
