#pragma once

#include "exec/cuda/kernels/operands.h"

/// Copies of rows, dropout and patches.
namespace debubble::exec::cuda {

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

/// images [samples, channels, height, width] -> patches, as exec/core/kernels/vision.h.
struct Images {
    std::int64_t samples = 0;
    std::int64_t channels = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t side = 0;  ///< side of a patch
};
void cut_patches(Stream stream, const Images& how, Operand images, Result patches);

}  // namespace debubble::exec::cuda
