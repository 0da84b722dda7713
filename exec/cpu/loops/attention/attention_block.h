#pragma once

#include <algorithm>
#include <cmath>

#include "exec/cpu/loops/elements.h"

/// The sizes of an attention, and one block of its queries and keys.
namespace debubble::exec::loops {

/// The sizes on which all operands of attention agree.
struct AttentionShape {
    std::int64_t samples, queries, keys, heads, kv_heads, head_dim, value_dim;

    AttentionShape(const Shape& q, const Shape& k, const Shape& v)
        : samples(q[0]),
          queries(q[1]),
          keys(k[1]),
          heads(q[2]),
          kv_heads(k[2]),
          head_dim(q[3]),
          value_dim(v[3]) {
        assert(k == (Shape{samples, keys, kv_heads, head_dim}) && heads % kv_heads == 0 &&
               "q [samples, queries, heads, head_dim], k [samples, keys, kv_heads, head_dim]");
        assert(v == (Shape{samples, keys, kv_heads, value_dim}) &&
               "v [samples, keys, kv_heads, value_dim]");
    }
    Shape of_results() const { return {samples, queries, heads, value_dim}; }
};

/// A block of queries of one head, and the stretch of keys that it visits next.
struct Block {
    const Attention& attention;
    const AttentionShape& shape;
    std::int64_t sample, head, first_query, queries, keys_at_once;
    std::int64_t first_key = 0;
    std::int64_t keys = 0;

    std::int64_t kv_head() const { return head / (shape.heads / shape.kv_heads); }
    std::int64_t position(std::int64_t query) const {
        return attention.first_query + first_query + query;
    }
    /// Keys that some query of the block sees.
    std::int64_t seen_keys() const {
        return attention.causal ? std::min(shape.keys, position(queries)) : shape.keys;
    }
    /// The first key that some query of the block sees, or one before it: the start of a stretch.
    std::int64_t first_seen() const { return first_key_of(0) / keys_at_once * keys_at_once; }
    /// The first key that a query sees.
    std::int64_t first_key_of(std::int64_t query) const {
        std::int64_t first = 0;
        if (attention.window) first = std::max(first, position(query) - *attention.window + 1);
        if (attention.chunk)
            first = std::max(first, position(query) / *attention.chunk * *attention.chunk);
        return first;
    }
    void meet(std::int64_t key) {
        first_key = key;
        keys = std::min(keys_at_once, seen_keys() - key);
    }
    /// This query sees the keys [hidden, visible) of the stretch.
    std::int64_t visible(std::int64_t query) const {
        if (!attention.causal) return keys;
        return std::clamp<std::int64_t>(position(query) - first_key + 1, 0, keys);
    }
    std::int64_t hidden(std::int64_t query) const {
        if (!attention.window && !attention.chunk) return 0;
        return std::clamp<std::int64_t>(first_key_of(query) - first_key, 0, visible(query));
    }
    /// Scales a row over the block's keys by 0 or the dropout's scale.
    void drop(std::int64_t query, float* row) const {
        if (!attention.dropout) return;
        const AttentionDropout& how = *attention.dropout;
        const std::int64_t line =
            (how.first_sample + sample) * how.all_heads + how.first_head + head;
        const std::int64_t element =
            (line * how.all_positions + position(query)) * how.all_positions + first_key;
        drop_run(how.dropout, static_cast<std::uint64_t>(element), visible(query), row, row);
    }
};

/// Lets a row of scores fall with the distance of its keys (Attention::alibi), given before they
/// are scaled, so that times the scale they are those that fell.
inline void lower_scores(const Block& block, std::int64_t query, float* row) {
    const double scale = block.attention.scale;
    const auto slope = static_cast<float>(block.attention.alibi->slope(block.head) / scale);
    const std::int64_t first = block.first_key - block.position(query);
    for (std::int64_t j = 0; j < block.keys; ++j) row[j] += slope * static_cast<float>(first + j);
}

/// Caps a row of scores (Attention::soft_cap), given before they are scaled: leaves them so that
/// times the scale they are the capped ones, and the slopes of the cap in `slopes` unless that is
/// nullptr. Precondition: there is a cap.
inline void cap_scores(const Attention& attention, std::int64_t count, float* row, float* slopes) {
    const auto scale = static_cast<float>(attention.scale);
    const auto cap = static_cast<float>(*attention.soft_cap);
    for (std::int64_t j = 0; j < count; ++j) {
        const float t = std::tanh(row[j] * scale / cap);
        row[j] = t * cap / scale;
        if (slopes != nullptr) slopes[j] = 1.F - t * t;
    }
}

}  // namespace debubble::exec::loops
