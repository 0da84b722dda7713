#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "exec/cpu/fixed_order/attention.h"
#include "exec/cpu/fixed_order/gemm.h"
#include "exec/cpu/fixed_order/sums.h"
#include "exec/cpu/fixed_order/vectorise.h"

/// The common parts of attention's forward and backward: the walk over samples, heads and blocks,
/// and the scores of one block. Blocks of keys start at multiples of their size, so a row's sums do
/// not depend on the slice of its query.
namespace debubble::exec::fixed_order {

inline constexpr std::int64_t kBlockQueries = 64;
inline constexpr std::int64_t kBlockKeys = 64;

/// The sizes on which all operands of attention agree.
struct AttentionShape {
    std::int64_t samples, queries, keys, heads, kv_heads, head_dim;

    AttentionShape(const Shape& q, const Shape& k)
        : samples(q[0]), queries(q[1]), keys(k[1]), heads(q[2]), kv_heads(k[2]), head_dim(q[3]) {
        assert(k == (Shape{samples, keys, kv_heads, head_dim}) && heads % kv_heads == 0 &&
               "q [samples, queries, heads, head_dim], k [samples, keys, kv_heads, head_dim]");
    }
};

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

template <class T>
Matrix<T> transpose(const Matrix<T>& matrix) {
    return {matrix.data, matrix.column_stride, matrix.row_stride};
}

/// A block of queries of one head, and the stretch of keys that it visits next.
struct Block {
    const Attention& attention;
    const AttentionShape& shape;
    std::int64_t sample, head, first_query, queries;
    std::int64_t first_key = 0;
    std::int64_t keys = 0;
    std::int64_t keys_at_once = kBlockKeys;

    std::int64_t kv_head() const { return head / (shape.heads / shape.kv_heads); }
    std::int64_t position(std::int64_t query) const {
        return attention.first_query + first_query + query;
    }
    /// Keys that some query of the block sees.
    std::int64_t seen_keys() const {
        return attention.causal ? std::min(shape.keys, position(queries)) : shape.keys;
    }
    void meet(std::int64_t key) {
        first_key = key;
        keys = std::min(keys_at_once, seen_keys() - key);
    }
    /// The number of keys of the block that this query sees: they come first.
    std::int64_t visible(std::int64_t query) const {
        if (!attention.causal) return keys;
        return std::clamp<std::int64_t>(position(query) - first_key + 1, 0, keys);
    }
    /// Scales a row over the block's keys by 0 or the dropout's scale.
    template <class T>
    void drop(std::int64_t query, T* row) const {
        if (!attention.dropout) return;
        const AttentionDropout& how = *attention.dropout;
        const std::int64_t line =
            (how.first_sample + sample) * how.all_heads + how.first_head + head;
        const std::int64_t element =
            (line * how.all_positions + position(query)) * how.all_positions + first_key;
        drop_run(how.dropout, static_cast<std::uint64_t>(element), visible(query), row, row);
    }
};

/// Calls visit(block) for every head's blocks of queries, samples outermost.
template <class Visit>
void for_each_query_block(const Attention& attention, const AttentionShape& shape,
                          const Visit& visit) {
    for (std::int64_t sample = 0; sample < shape.samples; ++sample) {
        for (std::int64_t head = 0; head < shape.heads; ++head) {
            for (std::int64_t query = 0; query < shape.queries; query += kBlockQueries) {
                const std::int64_t count = std::min(kBlockQueries, shape.queries - query);
                visit(Block{attention, shape, sample, head, query, count});
            }
        }
    }
}

}  // namespace debubble::exec::fixed_order
