#pragma once

#include "exec/cpu/convert.h"
#include "exec/cpu/onednn/matmul.h"
#include "exec/cpu/pieces.h"

/// The rows of heads within [samples, rows, heads, head_dim], as operands of oneDNN.
namespace debubble::exec::onednn {

/// The distance from one row to the next, in elements; `packed_row` is that of Attention.
inline std::int64_t row_stride(const Shape& x, std::int64_t packed_row) {
    return packed_row > 0 ? packed_row : x[2] * x[3];
}

/// The first element of row `row` of a head.
inline std::int64_t element_of(const Shape& x, std::int64_t sample, std::int64_t row,
                               std::int64_t head, std::int64_t packed_row = 0) {
    return (sample * x[1] + row) * row_stride(x, packed_row) + head * x[3];
}

inline Operand head_rows(const ConstTensorView& x, std::int64_t sample, std::int64_t row,
                         std::int64_t head, std::int64_t packed_row = 0) {
    const std::int64_t first = element_of(x.shape, sample, row, head, packed_row);
    return {x.data + first * size_of(x.type), x.type, row_stride(x.shape, packed_row), 1};
}

/// A block of a worker's memory, whose rows have `stride` elements.
inline Operand block_of(const std::vector<float>& block, std::int64_t stride) {
    return {reinterpret_cast<const std::byte*>(block.data()), DataType::Fp32, stride, 1};
}
inline Operand block_of(const std::vector<std::uint16_t>& block, std::int64_t stride) {
    return {reinterpret_cast<const std::byte*>(block.data()), DataType::Bf16, stride, 1};
}
inline Result into(std::vector<float>& block, std::int64_t stride, std::int64_t row = 0) {
    return {reinterpret_cast<std::byte*>(block.data() + row * stride), DataType::Fp32, stride};
}

/// Copies rows of fp32 to bf16, of `count` elements each.
inline void narrow_rows(const std::vector<float>& from, std::int64_t rows, std::int64_t stride,
                        std::int64_t count, std::vector<std::uint16_t>& to) {
    for (std::int64_t i = 0; i < rows; ++i) {
        auto* row = reinterpret_cast<std::byte*>(to.data() + i * stride);
        narrow(from.data() + i * stride, {row, {count}, DataType::Bf16});
    }
}

}  // namespace debubble::exec::onednn
