#pragma once

#include <cstdint>
#include <optional>

#include "models/operators/value.h"

/// Queries, keys and values, and what happens to them before an attention. See
/// models/operators/op.h.
namespace debubble::models::op {

/// Queries, keys and values of an attention.
struct Heads {
    enum class Layout : std::uint8_t {
        Packed,  ///< a token's queries, keys and values side by side: the product's own rows
        Apart,   ///< all queries, then all keys, then all values
    };
    Layout layout{};
    Value queries;              ///< queries alone if `keys` is set, else queries, keys and values
    std::optional<Value> keys;  ///< keys, then values, where slices of the sequence share them
    std::int64_t heads = 1;     ///< on this rank
    std::int64_t kv_heads = 1;
    std::int64_t head_dim = 1;
    std::int64_t value_dim = 1;
    bool gates = false;  ///< the packed QKV tensor has a gate next to the queries of each head

    std::int64_t query_columns() const { return heads * head_dim; }
    std::int64_t key_columns() const { return kv_heads * head_dim; }
    std::int64_t value_columns() const { return kv_heads * value_dim; }
    /// With the gates of an output gate, where they are in the product.
    std::int64_t columns() const {
        return (gates ? 2 : 1) * query_columns() + key_columns() + value_columns();
    }
};

/// Copies heads out of the packed product [T, q + 2 kv].
struct SplitHeads {
    Value packed;
    Heads heads;
    bool rotates = false;            ///< rotary positions, in the copy
    std::optional<int> tables;       ///< tables of a rotation that is not fused, kept
    std::optional<Value> gate = {};  ///< [T, q] of an output gate, kept
};

/// RMS norms of every head of queries and of keys, in place in the packed product.
struct HeadNorm {
    Heads heads;
    int query_gain = 0;  ///< parameter [d]
    int key_gain = 0;    ///< parameter [d]
    int kept = 0;        ///< [T, q + kv] queries and keys before it
    int statistics = 0;  ///< fp32 [T, heads + kv_heads]
};

/// RMS norms of all queries' columns together and of all keys', in place in the packed product.
/// Tensor-parallel ranks, which have some of the heads each, add up their sums of squares.
struct WidthNorm {
    Heads heads;
    int query_gain = 0;  ///< parameter [q]
    int key_gain = 0;    ///< parameter [kv]
    int kept = 0;        ///< [T, q + kv] queries and keys before it
    int statistics = 0;  ///< fp32 [T, 2]
    int sums = 0;        ///< fp32 [T, 2] of squares; of gradients times values in the backward
    int gradient_sums = 0;
};

/// RMS norms without weights of every head of queries and of keys, in place in the packed product.
/// They stand before the rotation, which changes the norm of no head, though Llama 4 writes them
/// after it.
struct HeadL2Norm {
    Heads heads;
    int kept = 0;        ///< [T, q + kv] queries and keys before it
    int statistics = 0;  ///< fp32 [T, heads + kv_heads]
};

/// Puts the heads of latent attention together: queries and keys have columns of their own and
/// rotated ones, which the keys of a token share.
struct LatentHeads {
    Value queries;       ///< [T, heads d]
    Value keys_values;   ///< [T, heads (d - r + v)]
    Value rotated_keys;  ///< [Ts, key rank + r]: the last r columns are rotated
    Heads heads;
    std::optional<int> gathered;           ///< [T, r] of all ranks, with sequence parallelism
    std::optional<int> gathered_gradient;  ///< [T, r] of this rank's heads, before the ranks' sum
};

/// Rotates queries and keys inside the packed product.
struct Rope {
    Heads heads;
};

}  // namespace debubble::models::op
