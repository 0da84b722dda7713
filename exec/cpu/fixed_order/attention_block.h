#pragma once

#include <algorithm>
#include <vector>

#include "exec/cpu/fixed_order/attention.h"
#include "exec/cpu/fixed_order/gemm.h"
#include "exec/cpu/loops/attention/attention_block.h"

/// The common parts of attention's forward and backward: the walk over samples, heads and blocks,
/// and the rows of a head. Blocks of keys start at multiples of their size, so a row's sums do not
/// depend on the slice of its query.
namespace debubble::exec::fixed_order {

using loops::AttentionShape;
using loops::Block;

inline constexpr std::int64_t kBlockQueries = 64;
inline constexpr std::int64_t kBlockKeys = 64;

/// The rows of one head of one sample within [samples, rows, heads, head_dim]; in packed rows each
/// starts `packed_row` elements after the one before.
template <class T>
Matrix<T> head_of(const View<T>& x, std::int64_t sample, std::int64_t head, std::int64_t row = 0,
                  std::int64_t packed_row = 0) {
    const std::int64_t width = packed_row > 0 ? packed_row : x.shape[2] * x.shape[3];
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
