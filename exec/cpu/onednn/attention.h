#pragma once

#include <vector>

#include "exec/core/operator_options.h"
#include "exec/core/tensor.h"
#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/onednn/matmul.h"
#include "exec/cpu/row_walk.h"

/// Attention as in exec/core/kernels/attention.h, with GEMMs by oneDNN on blocks that stay in the
/// second-level cache, and heads distributed over workers.
namespace debubble::exec::onednn {

inline constexpr std::int64_t kQueriesAtOnce = 64;
inline constexpr std::int64_t kKeysAtOnce = 512;

/// The GEMMs and the memory of one worker. Matrices of queries by keys have rows of
/// kKeysAtOnce; `weights` and `narrow_gradients` are their copies in 16 bits.
struct AttentionWorker {
    Matmul matmul{1};
    std::vector<float> scores, gradients, slopes, gathered, largest, sum, dots, mask, row, dk, dv;
    std::vector<std::uint16_t> weights, narrow_gradients;
};

/// q, k, v, out and their gradients have one type, for which multiplies() is true.
class BlockedAttention {
public:
    explicit BlockedAttention(int workers);

    void forward(const Attention& attention, ConstTensorView q, ConstTensorView k,
                 ConstTensorView v, TensorView out, View<float> log_sum);
    void backward(const Attention& attention, ConstTensorView dout, ConstTensorView q,
                  ConstTensorView k, ConstTensorView v, ConstTensorView out,
                  View<const float> log_sum, TensorView dq, TensorView dk, TensorView dv);

private:
    std::vector<AttentionWorker> workers_;
};

// The rows of heads within [samples, rows, heads, head_dim], as operands of oneDNN.

/// The distance from one row to the next, in elements; `packed_row` is that of Attention.
inline std::int64_t row_stride(const Shape& x, std::optional<std::int64_t> packed_row) {
    return packed_row.value_or(x[2] * x[3]);
}

/// The first element of row `row` of a head.
inline std::int64_t element_of(const Shape& x, std::int64_t sample, std::int64_t row,
                               std::int64_t head, std::optional<std::int64_t> packed_row = {}) {
    return (sample * x[1] + row) * row_stride(x, packed_row) + head * x[3];
}

inline Operand head_rows(const ConstTensorView& x, std::int64_t sample, std::int64_t row,
                         std::int64_t head, std::optional<std::int64_t> packed_row = {}) {
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
