#include <type_traits>

#include "exec/cuda/kernels/attention_tensor_tiles.h"

namespace debubble::exec::cuda {

namespace {

constexpr int kTile = kBackwardTile;
constexpr int kTiles = kTile / 8;

/// The values of a row of scores that the backward needs: its log-sum-exp to the base 2, and the
/// product of its result with the gradient from above.
struct RowSums {
    float log_sum = 0;
    float dot = 0;
};

/// Turns scores and the gradients from above into probabilities after dropout and the gradients of
/// scaled scores. For the fragment's m, n and i, `sums` gives the values of their row, `seen`
/// whether the query sees the key (only where kMasked; else all do), and `kept` the factor of
/// dropout.
template <bool kMasked, int kStrips, class Sums, class Seen, class Factor>
__device__ void to_gradients(float (&scores)[kStrips][kTiles][4],
                             float (&above)[kStrips][kTiles][4], float scale, const Sums& sums,
                             const Seen& seen, const Factor& kept) {
    DEBUBBLE_UNROLL
    for (int n = 0; n < kTiles; ++n) {
        DEBUBBLE_UNROLL
        for (int m = 0; m < kStrips; ++m) {
            DEBUBBLE_UNROLL
            for (int i = 0; i < 4; ++i) {
                const RowSums row = sums(m, n, i);
                float whole = power_of_two(fmaf(scores[m][n][i], scale, -row.log_sum));
                if (kMasked && !seen(m, n, i)) whole = 0;
                const float factor = kept(m, n, i);
                scores[m][n][i] = whole * factor;
                above[m][n][i] = whole * (above[m][n][i] * factor - row.dot);
            }
        }
    }
}

/// The `seen` where nothing is masked.
struct AllSeen {
    __device__ bool operator()(int, int, int) const { return true; }
};

/// Two operands of a block's own rows, and a double buffer for those of the tile that its warps
/// visit: one is read while the other is loaded.
template <int kHead, int kValue>
struct BackwardTiles {
    static constexpr int kOwn = backward_rows(kHead);
    Tile<kHead> own_keys{shared_memory<Half>()};    ///< keys, or queries
    Tile<kValue> own_values{own_keys.after(kOwn)};  ///< values, or gradients from above

    __device__ Tile<kHead> met_keys(int buffer) const {
        return Tile<kHead>(Tile<kHead>(own_values.after(kOwn)).after(buffer * kTile));
    }
    __device__ Tile<kValue> met_values(int buffer) const {
        return Tile<kValue>(Tile<kValue>(met_keys(2).after(0)).after(buffer * kTile));
    }
    /// Log-sum-exps and dots [2, kTile] of the rows of the visited tile.
    __device__ float* sums(int buffer) const {
        return reinterpret_cast<float*>(met_values(2).after(0)) + buffer * 2 * kTile;
    }
};

/// The left factors of a warp's own rows, of either kind.
template <class Factors, int kHead>
__device__ Factors own_factors(const Tile<kHead>& tile, int first_row, const Lane& lane) {
    const LeftInShared<kHead> in_shared{tile, first_row};
    if constexpr (std::is_same_v<Factors, LeftInShared<kHead>>)
        return in_shared;
    else
        return Factors(in_shared, lane);
}

/// A block owns keys of a key head; its scores have the shape [keys, queries].
template <Type kType, int kHead, int kValue, bool kDropped>
__global__ void __launch_bounds__(kTensorThreads, 2)
    tensor_keys_kernel(AttentionShape shape, Operand dout, Operand q, Operand k, Operand v,
                       const float* log_sum, const float* dots, Result dk, Result dv) {
    constexpr int kOwn = backward_rows(kHead);
    constexpr int kStrips = strips_of(kOwn), kRows = kStrips * kStripRows;
    const BackwardTiles<kHead, kValue> tiles;
    const Lane lane;

    const BlockPlace at(shape.kv_heads, shape.keys, kOwn, Longest::FirstRows);
    const HeadIn keys(k, at.sample, at.head, shape.keys, shape.key_stride, shape.head_dim);
    const HeadIn values(v, at.sample, at.head, shape.keys, shape.value_stride, shape.value_dim);
    const Sight<int> sight(shape);
    const LeftInShared<kHead> own_keys{tiles.own_keys, lane.warp * kRows};
    const LeftInShared<kValue> own_values{tiles.own_values, lane.warp * kRows};
    const int block_row = static_cast<int>(at.row), first_key = block_row + lane.warp * kRows;
    tiles.own_keys.template fetch<kOwn>(keys, block_row);
    tiles.own_values.template fetch<kOwn>(values, block_row);

    // Number of queries that see none of these keys, and the end of those that see some.
    const int hidden = sight.blind_from(0, block_row);
    const int first = hidden > 0 ? hidden / kTile * kTile : 0;
    const int query_end = sight.queries_until(block_row + kOwn);
    const int first_line = static_cast<int>(at.sample * shape.heads);
    const auto fetch = [&](int head, int query, int buffer) {
        const HeadIn queries(q, at.sample, head, shape.queries, shape.query_stride, shape.head_dim);
        const HeadIn douts(dout, at.sample, head, shape.queries, shape.out_stride, shape.value_dim);
        tiles.met_keys(buffer).template fetch<kTile>(queries, query);
        tiles.met_values(buffer).template fetch<kTile>(douts, query);
        if (thread_index() >= 2 * kTile) return;
        const float* const from = thread_index() < kTile ? log_sum : dots;
        const int row = query + thread_index() % kTile, line = first_line + head;
        const bool there = row < sight.queries;
        copy_later<4>(tiles.sums(buffer) + thread_index(),
                      there ? from + (line * sight.queries + row) : from, there);
    };

    float key_sums[kStrips][kHead / 8][4] = {}, value_sums[kStrips][kValue / 8][4] = {};
    const float scale = shape.scale * kLog2E;
    const int group = static_cast<int>(shape.heads / shape.kv_heads);
    const int begin = static_cast<int>(at.head) * group, end = begin + group;
    int head = first < query_end ? begin : end, query = first;
    if (head < end) fetch(head, query, 0);
    for (int buffer = 0; head < end; buffer ^= 1) {
        await_copies();
        block_barrier();  // this tile is loaded, and no thread still reads the one before
        const bool last = query + kTile >= query_end;
        const int next_head = last ? head + 1 : head, next_query = last ? first : query + kTile;
        if (next_head < end) fetch(next_head, next_query, buffer ^ 1);
        if (sight.some_see(query, kTile, first_key, kRows)) {
            const Tile<kHead> q_tile = tiles.met_keys(buffer);
            const Tile<kValue> dout_tile = tiles.met_values(buffer);
            const float* const sums = tiles.sums(buffer) + lane.pair;
            float scores[kStrips][kTiles][4], above[kStrips][kTiles][4];
            products_over_head<kType>(scores, own_keys, q_tile, lane);
            products_over_head<kType>(above, own_values, dout_tile, lane);
            const auto sums_of = [&](int, int n, int i) -> RowSums {
                return {sums[n * 8 + i % 2] * kLog2E, sums[kTile + n * 8 + i % 2]};
            };
            const auto kept = [&](int m, int n, int i) {
                return !kDropped
                           ? 1.F
                           : dropout_factor(shape, at.sample, head, lane.column(query + n * 8, i),
                                            lane.row(first_key + m * kStripRows, i));
            };
            if (sight.all_see(query, kTile, first_key, kRows)) {
                to_gradients<false>(scores, above, scale, sums_of, AllSeen(), kept);
            } else {  // rows beyond the end are zero, or not written
                int blind[kStrips][2], until[kStrips][2];
                DEBUBBLE_UNROLL
                for (int m = 0; m < kStrips; ++m) {
                    DEBUBBLE_UNROLL
                    for (int h = 0; h < 2; ++h) {
                        const int key = lane.row(first_key + m * kStripRows, 2 * h);
                        blind[m][h] = sight.blind_from(query + lane.pair, key);
                        until[m][h] = sight.queries_until(key + 1) - query - lane.pair;
                    }
                }
                const auto seen = [&](int m, int n, int i) {
                    const int query_here = n * 8 + i % 2;
                    return query_here >= blind[m][i / 2] && query_here < until[m][i / 2];
                };
                to_gradients<true>(scores, above, scale, sums_of, seen, kept);
            }
            add_weighted_rows<kType>(value_sums, scores, dout_tile, lane);
            add_weighted_rows<kType>(key_sums, above, q_tile, lane);
        }
        head = next_head;
        query = next_query;
    }
    await_copies();  // of a block that visited no queries
    const HeadRows of_keys(at.sample, at.head, shape.keys, shape.key_stride, shape.head_dim);
    const HeadRows of_values(at.sample, at.head, shape.keys, shape.value_stride, shape.value_dim);
    for_each_row<kStrips>(
        first_key, of_keys, shape.head_dim, lane, [&](int m, int i, std::int64_t to, int width) {
            put_pairs(dk, to, width, shape.adds_keys, i, shape.scale, key_sums[m]);
        });
    for_each_row<kStrips>(first_key, of_values, shape.value_dim, lane,
                          [&](int m, int i, std::int64_t to, int width) {
                              put_pairs(dv, to, width, shape.adds_keys, i, 1, value_sums[m]);
                          });
}

/// A block owns queries of a head; its scores have the shape [queries, keys].
template <Type kType, int kHead, int kValue, bool kDropped>
__global__ void __launch_bounds__(kTensorThreads, 2)
    tensor_queries_kernel(AttentionShape shape, Operand dout, Operand q, Operand k, Operand v,
                          const float* log_sum, const float* dots, Result dq) {
    constexpr int kOwn = backward_rows(kHead), kParts = kHead / 8;
    constexpr int kStrips = strips_of(kOwn), kRows = kStrips * kStripRows;
    const BackwardTiles<kHead, kValue> tiles;
    const Lane lane;

    const BlockPlace at(shape.heads, shape.queries, kOwn, Longest::LastRows);
    const std::int64_t kv_head = at.head / (shape.heads / shape.kv_heads);
    const HeadIn queries(q, at.sample, at.head, shape.queries, shape.query_stride, shape.head_dim);
    const HeadIn douts(dout, at.sample, at.head, shape.queries, shape.out_stride, shape.value_dim);
    const HeadIn keys(k, at.sample, kv_head, shape.keys, shape.key_stride, shape.head_dim);
    const HeadIn values(v, at.sample, kv_head, shape.keys, shape.value_stride, shape.value_dim);
    const Sight<int> sight(shape);
    const int block_row = static_cast<int>(at.row), first_query = block_row + lane.warp * kRows;
    const auto fetch = [&](int key, int buffer) {
        tiles.met_keys(buffer).template fetch<kTile>(keys, key);
        tiles.met_values(buffer).template fetch<kTile>(values, key);
    };
    const int begin = sight.first_seen(block_row, kTile);
    tiles.own_keys.template fetch<kOwn>(queries, block_row);
    tiles.own_values.template fetch<kOwn>(douts, block_row);
    fetch(begin, 0);

    RowSums rows[kStrips][2];
    DEBUBBLE_UNROLL
    for (int m = 0; m < kStrips; ++m) {
        DEBUBBLE_UNROLL
        for (int h = 0; h < 2; ++h) {
            const int query = lane.row(first_query + m * kStripRows, 2 * h);
            if (query >= sight.queries) continue;
            const std::int64_t line = (at.sample * shape.heads + at.head) * shape.queries;
            rows[m][h] = {log_sum[line + query] * kLog2E, dots[line + query]};
        }
    }

    await_copies();
    block_barrier();
    // The rows are 32 for heads of 64, or 16 for wider ones: only heads of 128 leave registers for
    // their own fragments.
    constexpr bool kInRegisters = kHead == 128;
    using OwnQueries =
        std::conditional_t<kInRegisters, LeftInRegisters<kHead, kStrips>, LeftInShared<kHead>>;
    using OwnDout =
        std::conditional_t<kInRegisters, LeftInRegisters<kValue, kStrips>, LeftInShared<kValue>>;
    const auto own_queries = own_factors<OwnQueries>(tiles.own_keys, lane.warp * kRows, lane);
    const auto own_dout = own_factors<OwnDout>(tiles.own_values, lane.warp * kRows, lane);

    float sums[kStrips][kParts][4] = {};
    const float scale = shape.scale * kLog2E;
    const int end = sight.seen_before(block_row + kOwn);
    int buffer = 0;
    for (int key = begin; key < end; key += kTile, buffer ^= 1) {
        await_copies();
        block_barrier();  // this tile is loaded, and no thread still reads the one before
        if (key + kTile < end) fetch(key + kTile, buffer ^ 1);
        if (!sight.some_see(first_query, kRows, key, kTile)) continue;
        const Tile<kHead> k_tile = tiles.met_keys(buffer);
        const Tile<kValue> v_tile = tiles.met_values(buffer);
        float scores[kStrips][kTiles][4], above[kStrips][kTiles][4];
        products_over_head<kType>(scores, own_queries, k_tile, lane);
        products_over_head<kType>(above, own_dout, v_tile, lane);
        const auto sums_of = [&](int m, int, int i) { return rows[m][i / 2]; };
        const auto kept = [&](int m, int n, int i) {
            return !kDropped ? 1.F
                             : dropout_factor(shape, at.sample, at.head,
                                              lane.row(first_query + m * kStripRows, i),
                                              lane.column(key + n * 8, i));
        };
        if (sight.all_see(first_query, kRows, key, kTile)) {
            to_gradients<false>(scores, above, scale, sums_of, AllSeen(), kept);
        } else {
            int seen_here[kStrips][2], hidden_here[kStrips][2];
            DEBUBBLE_UNROLL
            for (int m = 0; m < kStrips; ++m) {
                DEBUBBLE_UNROLL
                for (int h = 0; h < 2; ++h) {
                    const int query = lane.row(first_query + m * kStripRows, 2 * h);
                    seen_here[m][h] = sight.seen_from(query, key + lane.pair);
                    hidden_here[m][h] = sight.first_of(query) - key - lane.pair;
                }
            }
            const auto seen = [&](int m, int n, int i) {
                const int at_key = n * 8 + i % 2;
                return at_key < seen_here[m][i / 2] && at_key >= hidden_here[m][i / 2];
            };
            to_gradients<true>(scores, above, scale, sums_of, seen, kept);
        }
        add_weighted_rows<kType>(sums, above, k_tile, lane);
    }
    const HeadRows results(at.sample, at.head, shape.queries, shape.query_stride, shape.head_dim);
    for_each_row<kStrips>(first_query, results, shape.head_dim, lane,
                          [&](int m, int i, std::int64_t to, int width) {
                              store_pairs<kType>(dq, to, width, i, shape.scale, sums[m]);
                          });
}

template <Type kType, int kHead, int kValue, bool kDropped>
void launch_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q, Operand k,
                     Operand v, const float* log_sum, const float* dots, Result dq, Result dk,
                     Result dv) {
    constexpr HeadWidths kWidths{kHead, kValue};
    launch("attention_backward (keys, tensor cores)",
           tensor_keys_kernel<kType, kHead, kValue, kDropped>,
           over_rows_tensor_backward(shape.samples * shape.kv_heads, shape.keys, kWidths), stream,
           shape, dout, q, k, v, log_sum, dots, dk, dv);
    launch("attention_backward (queries, tensor cores)",
           tensor_queries_kernel<kType, kHead, kValue, kDropped>,
           over_rows_tensor_backward(shape.samples * shape.heads, shape.queries, kWidths), stream,
           shape, dout, q, k, v, log_sum, dots, dq);
}

template <Type kType, bool kDropped>
constexpr auto backward_of(HeadWidths widths) {
    return widths.keys == 64    ? launch_backward<kType, 64, 64, kDropped>
           : widths.keys == 128 ? launch_backward<kType, 128, 128, kDropped>
                                : launch_backward<kType, 192, 128, kDropped>;
}

}  // namespace

void tensor_attention_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                               Operand k, Operand v, const float* log_sum, const float* dots,
                               Result dq, Result dk, Result dv) {
    const HeadWidths widths = widths_of(shape.head_dim, shape.value_dim);
    const bool bf16 = q.type == Type::Bf16;
    const auto backward =
        shape.dropped.scale != 0.F
            ? (bf16 ? backward_of<Type::Bf16, true>(widths) : backward_of<Type::Fp16, true>(widths))
            : (bf16 ? backward_of<Type::Bf16, false>(widths)
                    : backward_of<Type::Fp16, false>(widths));
    backward(stream, shape, dout, q, k, v, log_sum, dots, dq, dk, dv);
}

}  // namespace debubble::exec::cuda
