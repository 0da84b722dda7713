#pragma once

#include <algorithm>
#include <vector>

#include "exec/cpu/fixed_order/gemm.h"
#include "exec/cpu/loops/attention/attention_block.h"
#include "exec/cpu/loops/operands.h"

/// Scaled dot-product attention, multi-head or grouped-query, without a matrix of queries by keys:
/// an online softmax (Milakov and Gimelshein 2018) over blocks of keys, and a backward that
/// computes each block's probabilities again from the stored log of the sum (Dao et al. 2022,
/// "FlashAttention", algorithms 1 and 4).
///
/// Shapes: q [samples, queries, heads, head_dim], out [.., value_dim]; k [samples, keys, kv_heads,
/// head_dim], v [.., value_dim], head h reading key head h / (heads / kv_heads); log_sum [samples,
/// heads, queries]. The queries may be a slice of the sequence: query i then has position
/// first_query + i among the keys, and under a causal mask sees keys 0 .. first_query + i, or as
/// many of the last of them as a window has.
namespace debubble::exec::fixed_order {

using loops::In;
using loops::Out;

void attention_forward(const Attention& attention, In q, In k, In v, Out out, Out log_sum);

/// Writes dq and adds into dk and dv, which gather over the slices of a sequence: zero
/// them before the last slice, whose backward comes first.
void attention_backward_input(const Attention& attention, In dout, In q, In k, In v, In out,
                              In log_sum, Out dq, Out dk, Out dv);

// The common parts of attention's forward and backward: the walk over samples, heads and blocks,
// and the rows of a head. Blocks of keys start at multiples of their size, so a row's sums do not
// depend on the slice of its query.

using loops::AttentionShape;
using loops::Block;

inline constexpr std::int64_t kBlockQueries = 64;
inline constexpr std::int64_t kBlockKeys = 64;

/// The rows of one head of one sample within [samples, rows, heads, head_dim]; in packed rows each
/// starts `packed_row` elements after the one before.
template <class T>
Matrix<T> head_of(const View<T>& x, std::int64_t sample, std::int64_t head, std::int64_t row = 0,
                  std::optional<std::int64_t> packed_row = {}) {
    const std::int64_t width = packed_row.value_or(x.shape[2] * x.shape[3]);
    return {x.data + (sample * x.shape[1] + row) * width + head * x.shape[3], width, 1};
}

template <class T>
Matrix<T> from_row(const Matrix<T>& matrix, std::int64_t row) {
    return {matrix.data + row * matrix.row_stride, matrix.row_stride, matrix.column_stride};
}

/// Calls visit(block) for every head's blocks of queries, samples outermost.
template <class Visit>
void for_each_query_block(const Attention& attention, const AttentionShape& shape,
                          const Visit& visit) {
    for (std::int64_t sample = 0; sample < shape.samples; ++sample) {
        for (std::int64_t head = 0; head < shape.heads; ++head) {
            for (std::int64_t query = 0; query < shape.queries; query += kBlockQueries) {
                const std::int64_t count = std::min(kBlockQueries, shape.queries - query);
                visit(Block{attention, shape, sample, head, query, count, kBlockKeys});
            }
        }
    }
}

}  // namespace debubble::exec::fixed_order
