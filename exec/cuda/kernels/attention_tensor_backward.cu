#include "exec/cuda/kernels/attention_tensor_tiles.h"

namespace debubble::exec::cuda {

namespace {

constexpr int kTile = kBackwardTile;
constexpr int kTiles = kTile / 8;
constexpr int kTurned = turned_stride(kTile);

/// What the backward needs of a row of scores: its log-sum-exp, and the product of its result with
/// what reaches it from above.
struct RowSums {
    float log_sum = 0;
    float dot = 0;

    __device__ RowSums() {}
    /// Zero for a query that does not exist.
    __device__ RowSums(const AttentionShape& shape, std::int64_t sample, std::int64_t head,
                       std::int64_t query, const float* log_sums, const float* dots) {
        if (query >= shape.queries) return;
        const std::int64_t row = (sample * shape.heads + head) * shape.queries + query;
        log_sum = log_sums[row];
        dot = dots[row];
    }
};

/// Scores and what reaches them from above become probabilities after dropout and the gradients of
/// scores, times their scale. `query`, `key` and `sums` say of whom: of the fragment's n and i.
/// Without kMasked all queries see all keys, and without kDropped nothing is dropped.
template <bool kMasked, bool kDropped, class Query, class Key, class Sums>
__device__ void to_gradients(float (&scores)[kTiles][4], float (&above)[kTiles][4],
                             const AttentionShape& shape, std::int64_t sample, std::int64_t head,
                             const Query& query, const Key& key, const Sums& sums) {
    DEBUBBLE_UNROLL
    for (int n = 0; n < kTiles; ++n) {
        DEBUBBLE_UNROLL
        for (int i = 0; i < 4; ++i) {
            const RowSums& row = sums(n, i);
            float whole = expf(scores[n][i] * shape.scale - row.log_sum);
            if (kMasked && !sees(shape, query(n, i), key(n, i))) whole = 0;
            const float kept =
                kDropped ? kept_factor(shape, sample, head, query(n, i), key(n, i)) : 1.F;
            scores[n][i] = whole * kept;
            above[n][i] = whole * (above[n][i] * kept - row.dot) * shape.scale;
        }
    }
}

/// Most tiles are neither at the diagonal nor at an edge, and need not ask of every score.
template <bool kDropped, class Query, class Key, class Sums>
__device__ void to_gradients(bool masked, float (&scores)[kTiles][4], float (&above)[kTiles][4],
                             const AttentionShape& shape, std::int64_t sample, std::int64_t head,
                             const Query& query, const Key& key, const Sums& sums) {
    if (masked)
        to_gradients<true, kDropped>(scores, above, shape, sample, head, query, key, sums);
    else
        to_gradients<false, kDropped>(scores, above, shape, sample, head, query, key, sums);
}

/// Adds, or writes, the results [16, kHead] of a warp's rows.
template <int kParts, class Write>
__device__ void for_each_result(const float (&sums)[kParts][4], std::int64_t first_row,
                                std::int64_t rows, std::int64_t head_dim, const Lane& lane,
                                const Write& write) {
    DEBUBBLE_UNROLL
    for (int n = 0; n < kParts; ++n) {
        DEBUBBLE_UNROLL
        for (int i = 0; i < 4; ++i) {
            const std::int64_t row = first_row + lane.group + i / 2 * 8;
            const int d = n * 8 + lane.pair + i % 2;
            if (row < rows && d < head_dim) write(row, d, sums[n][i]);
        }
    }
}

/// A block owns 64 keys of a key head; its scores stand as [keys, queries].
template <Type kType, int kHead, bool kDropped>
__global__ void __launch_bounds__(kTensorThreads, kHead == 64 && !kDropped ? 3 : 2)
    tensor_keys_kernel(AttentionShape shape, Operand dout, Operand q, Operand k, Operand v,
                       const float* log_sum, const float* dots, Result dk, Result dv) {
    constexpr int kStride = half_stride(kHead), kParts = kHead / 8;
    Half* const k_tile = shared_memory<Half>();
    Half* const v_tile = k_tile + kTensorRows * kStride;
    Half* const q_tile = v_tile + kTensorRows * kStride;
    Half* const dout_tile = q_tile + kTile * kStride;
    Half* const q_turned = dout_tile + kTile * kStride;
    Half* const dout_turned = q_turned + kHead * kTurned;
    const Lane lane;

    const BlockPlace at(shape.kv_heads, shape.keys, kTensorRows, Longest::FirstRows);
    const HeadRows keys(at.sample, at.head, shape.keys, shape.kv_heads, shape.head_dim);
    const int first_row = lane.warp * 16;
    TileOnItsWay<kTensorRows, kHead>(k, keys, at.row, shape.head_dim).write(k_tile);
    TileOnItsWay<kTensorRows, kHead>(v, keys, at.row, shape.head_dim).write(v_tile);

    float key_sums[kParts][4] = {}, value_sums[kParts][4] = {};
    const std::int64_t group = shape.heads / shape.kv_heads;
    const std::int64_t hidden = at.row - shape.first_query;  // queries before it see none of these
    const std::int64_t first = shape.causal && hidden > 0 ? hidden / kTile * kTile : 0;
    for (std::int64_t head = at.head * group; head < (at.head + 1) * group; ++head) {
        const HeadRows queries(at.sample, head, shape.queries, shape.heads, shape.head_dim);
        for (std::int64_t query = first; query < shape.queries; query += kTile) {
            const TileOnItsWay<kTile, kHead> next_q(q, queries, query, shape.head_dim);
            const TileOnItsWay<kTile, kHead> next_dout(dout, queries, query, shape.head_dim);
            RowSums sums[kTiles][2];
            DEBUBBLE_UNROLL
            for (int n = 0; n < kTiles; ++n) {
                DEBUBBLE_UNROLL
                for (int j = 0; j < 2; ++j)
                    sums[n][j] = RowSums(shape, at.sample, head, query + n * 8 + lane.pair + j,
                                         log_sum, dots);
            }
            block_barrier();  // nobody reads the tiles before
            next_q.write(q_tile);
            next_q.write_turned(q_turned);
            next_dout.write(dout_tile);
            next_dout.write_turned(dout_turned);
            block_barrier();
            float scores[kTiles][4] = {}, above[kTiles][4] = {};
            add_products_over_head<kType, kHead>(scores, k_tile, first_row, q_tile, lane);
            add_products_over_head<kType, kHead>(above, v_tile, first_row, dout_tile, lane);
            to_gradients<kDropped>(
                !all_see(shape, query, kTile, at.row, kTensorRows), scores, above, shape, at.sample,
                head, [&](int n, int i) { return query + n * 8 + lane.pair + i % 2; },
                [&](int, int i) { return at.row + first_row + lane.group + i / 2 * 8; },
                [&](int n, int i) -> const RowSums& { return sums[n][i % 2]; });
            DEBUBBLE_UNROLL
            for (int n = 0; n < kTiles; n += 2) {
                const Left p = Left::of<kType>(scores[n], scores[n + 1]);
                const Left ds = Left::of<kType>(above[n], above[n + 1]);
                DEBUBBLE_UNROLL
                for (int d = 0; d < kParts; ++d) {
                    add_product<kType>(value_sums[d], p, dout_turned, kTurned, d * 8, n * 8, lane);
                    add_product<kType>(key_sums[d], ds, q_turned, kTurned, d * 8, n * 8, lane);
                }
            }
        }
    }
    const auto add_into = [&](const Result& total) {
        return [&keys, &shape, total](std::int64_t row, int d, float sum) {
            const std::int64_t to = keys.first + row * keys.stride + d;
            store(total, to, (shape.adds_keys ? load(total, to) : 0) + sum);
        };
    };
    for_each_result(key_sums, at.row + first_row, shape.keys, shape.head_dim, lane, add_into(dk));
    for_each_result(value_sums, at.row + first_row, shape.keys, shape.head_dim, lane, add_into(dv));
}

/// A block owns 64 queries of a head; its scores stand as [queries, keys].
template <Type kType, int kHead, bool kDropped>
__global__ void __launch_bounds__(kTensorThreads, kHead == 64 && !kDropped ? 4 : 2)
    tensor_queries_kernel(AttentionShape shape, Operand dout, Operand q, Operand k, Operand v,
                          const float* log_sum, const float* dots, Result dq) {
    constexpr int kStride = half_stride(kHead), kParts = kHead / 8;
    Half* const q_tile = shared_memory<Half>();
    Half* const dout_tile = q_tile + kTensorRows * kStride;
    Half* const k_tile = dout_tile + kTensorRows * kStride;
    Half* const v_tile = k_tile + kTile * kStride;
    Half* const k_turned = v_tile + kTile * kStride;
    const Lane lane;

    const BlockPlace at(shape.heads, shape.queries, kTensorRows, Longest::LastRows);
    const std::int64_t kv_head = at.head / (shape.heads / shape.kv_heads);
    const HeadRows queries(at.sample, at.head, shape.queries, shape.heads, shape.head_dim);
    const HeadRows keys(at.sample, kv_head, shape.keys, shape.kv_heads, shape.head_dim);
    const int first_row = lane.warp * 16;
    TileOnItsWay<kTensorRows, kHead>(q, queries, at.row, shape.head_dim).write(q_tile);
    TileOnItsWay<kTensorRows, kHead>(dout, queries, at.row, shape.head_dim).write(dout_tile);
    const RowSums rows[2] = {
        {shape, at.sample, at.head, at.row + first_row + lane.group, log_sum, dots},
        {shape, at.sample, at.head, at.row + first_row + lane.group + 8, log_sum, dots}};

    float sums[kParts][4] = {};
    const std::int64_t seen = seen_keys(shape, at.row + kTensorRows);
    for (std::int64_t key = 0; key < seen; key += kTile) {
        const TileOnItsWay<kTile, kHead> next_k(k, keys, key, shape.head_dim);
        const TileOnItsWay<kTile, kHead> next_v(v, keys, key, shape.head_dim);
        block_barrier();  // nobody reads the tiles before
        next_k.write(k_tile);
        next_k.write_turned(k_turned);
        next_v.write(v_tile);
        block_barrier();
        float scores[kTiles][4] = {}, above[kTiles][4] = {};
        add_products_over_head<kType, kHead>(scores, q_tile, first_row, k_tile, lane);
        add_products_over_head<kType, kHead>(above, dout_tile, first_row, v_tile, lane);
        to_gradients<kDropped>(
            !all_see(shape, at.row, kTensorRows, key, kTile), scores, above, shape, at.sample,
            at.head, [&](int, int i) { return at.row + first_row + lane.group + i / 2 * 8; },
            [&](int n, int i) { return key + n * 8 + lane.pair + i % 2; },
            [&](int, int i) -> const RowSums& { return rows[i / 2]; });
        DEBUBBLE_UNROLL
        for (int n = 0; n < kTiles; n += 2) {
            const Left ds = Left::of<kType>(above[n], above[n + 1]);
            DEBUBBLE_UNROLL
            for (int d = 0; d < kParts; ++d)
                add_product<kType>(sums[d], ds, k_turned, kTurned, d * 8, n * 8, lane);
        }
    }
    for_each_result(sums, at.row + first_row, shape.queries, shape.head_dim, lane,
                    [&](std::int64_t row, int d, float sum) {
                        store(dq, queries.first + row * queries.stride + d, sum);
                    });
}

template <Type kType, int kHead, bool kDropped>
void launch_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q, Operand k,
                     Operand v, const float* log_sum, const float* dots, Result dq, Result dk,
                     Result dv) {
    launch("attention_backward (keys, tensor cores)", tensor_keys_kernel<kType, kHead, kDropped>,
           over_rows_tensor_backward(shape.samples * shape.kv_heads, shape.keys, shape.head_dim, 2),
           stream, shape, dout, q, k, v, log_sum, dots, dk, dv);
    launch("attention_backward (queries, tensor cores)",
           tensor_queries_kernel<kType, kHead, kDropped>,
           over_rows_tensor_backward(shape.samples * shape.heads, shape.queries, shape.head_dim, 1),
           stream, shape, dout, q, k, v, log_sum, dots, dq);
}

template <Type kType, bool kDropped>
constexpr auto backward_of(bool narrow) {
    return narrow ? launch_backward<kType, 64, kDropped> : launch_backward<kType, 128, kDropped>;
}

}  // namespace

void tensor_attention_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                               Operand k, Operand v, const float* log_sum, const float* dots,
                               Result dq, Result dk, Result dv) {
    const bool narrow = padded_head(shape.head_dim) == 64, bf16 = q.type == Type::Bf16;
    const auto backward =
        shape.dropped.scale != 0.F
            ? (bf16 ? backward_of<Type::Bf16, true>(narrow) : backward_of<Type::Fp16, true>(narrow))
            : (bf16 ? backward_of<Type::Bf16, false>(narrow)
                    : backward_of<Type::Fp16, false>(narrow));
    backward(stream, shape, dout, q, k, v, log_sum, dots, dq, dk, dv);
}

}  // namespace debubble::exec::cuda
