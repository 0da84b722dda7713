#include "exec/cuda/kernels/attention_tensor_tiles.h"

namespace debubble::exec::cuda {

namespace {

constexpr int kTile = kBackwardTile;
constexpr int kTiles = kTile / 8;
constexpr int kTurned = turned_stride(kTile);

/// Of the score of one query and one key, given their products: what its probability is after
/// dropout, and its gradient times the scores' scale.
struct ScoreGradient {
    float probability = 0;
    float gradient = 0;

    __device__ ScoreGradient(const AttentionShape& shape, std::int64_t sample, std::int64_t head,
                             std::int64_t query, std::int64_t key, float product, float above,
                             const float* log_sum, const float* dots) {
        if (!sees(shape, query, key)) return;
        const std::int64_t row = (sample * shape.heads + head) * shape.queries + query;
        const float kept = kept_factor(shape, sample, head, query, key);
        const float whole = expf(product * shape.scale - log_sum[row]);
        probability = whole * kept;
        gradient = whole * (above * kept - dots[row]) * shape.scale;
    }
};

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
template <Type kType, int kHead>
__global__ void __launch_bounds__(kTensorThreads)
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

    const BlockPlace at(shape.kv_heads, shape.keys, kTensorRows);
    const HeadRows keys(at.sample, at.head, shape.keys, shape.kv_heads, shape.head_dim);
    const int first_row = lane.warp * 16;
    load_half_tile<kTensorRows, kHead>(k_tile, nullptr, k, keys, at.row, shape.head_dim);
    load_half_tile<kTensorRows, kHead>(v_tile, nullptr, v, keys, at.row, shape.head_dim);

    float key_sums[kParts][4] = {}, value_sums[kParts][4] = {};
    const std::int64_t group = shape.heads / shape.kv_heads;
    const std::int64_t hidden = at.row - shape.first_query;  // queries before it see none of these
    const std::int64_t first = shape.causal && hidden > 0 ? hidden / kTile * kTile : 0;
    for (std::int64_t head = at.head * group; head < (at.head + 1) * group; ++head) {
        const HeadRows queries(at.sample, head, shape.queries, shape.heads, shape.head_dim);
        for (std::int64_t query = first; query < shape.queries; query += kTile) {
            block_barrier();  // nobody reads the tiles before
            load_half_tile<kTile, kHead>(q_tile, q_turned, q, queries, query, shape.head_dim);
            load_half_tile<kTile, kHead>(dout_tile, dout_turned, dout, queries, query,
                                         shape.head_dim);
            block_barrier();
            float scores[kTiles][4] = {}, above[kTiles][4] = {};
            add_products_over_head<kType, kHead>(scores, k_tile, first_row, q_tile, lane);
            add_products_over_head<kType, kHead>(above, v_tile, first_row, dout_tile, lane);
            DEBUBBLE_UNROLL
            for (int n = 0; n < kTiles; ++n) {
                DEBUBBLE_UNROLL
                for (int i = 0; i < 4; ++i) {
                    const ScoreGradient score(shape, at.sample, head,
                                              query + n * 8 + lane.pair + i % 2,
                                              at.row + first_row + lane.group + i / 2 * 8,
                                              scores[n][i], above[n][i], log_sum, dots);
                    scores[n][i] = score.probability;
                    above[n][i] = score.gradient;
                }
            }
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
template <Type kType, int kHead>
__global__ void __launch_bounds__(kTensorThreads)
    tensor_queries_kernel(AttentionShape shape, Operand dout, Operand q, Operand k, Operand v,
                          const float* log_sum, const float* dots, Result dq) {
    constexpr int kStride = half_stride(kHead), kParts = kHead / 8;
    Half* const q_tile = shared_memory<Half>();
    Half* const dout_tile = q_tile + kTensorRows * kStride;
    Half* const k_tile = dout_tile + kTensorRows * kStride;
    Half* const v_tile = k_tile + kTile * kStride;
    Half* const k_turned = v_tile + kTile * kStride;
    const Lane lane;

    const BlockPlace at(shape.heads, shape.queries, kTensorRows);
    const std::int64_t kv_head = at.head / (shape.heads / shape.kv_heads);
    const HeadRows queries(at.sample, at.head, shape.queries, shape.heads, shape.head_dim);
    const HeadRows keys(at.sample, kv_head, shape.keys, shape.kv_heads, shape.head_dim);
    const int first_row = lane.warp * 16;
    load_half_tile<kTensorRows, kHead>(q_tile, nullptr, q, queries, at.row, shape.head_dim);
    load_half_tile<kTensorRows, kHead>(dout_tile, nullptr, dout, queries, at.row, shape.head_dim);

    float sums[kParts][4] = {};
    const std::int64_t seen = seen_keys(shape, at.row + kTensorRows);
    for (std::int64_t key = 0; key < seen; key += kTile) {
        block_barrier();  // nobody reads the tiles before
        load_half_tile<kTile, kHead>(k_tile, k_turned, k, keys, key, shape.head_dim);
        load_half_tile<kTile, kHead>(v_tile, nullptr, v, keys, key, shape.head_dim);
        block_barrier();
        float scores[kTiles][4] = {}, above[kTiles][4] = {};
        add_products_over_head<kType, kHead>(scores, q_tile, first_row, k_tile, lane);
        add_products_over_head<kType, kHead>(above, dout_tile, first_row, v_tile, lane);
        DEBUBBLE_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            DEBUBBLE_UNROLL
            for (int i = 0; i < 4; ++i)
                above[n][i] = ScoreGradient(shape, at.sample, at.head,
                                            at.row + first_row + lane.group + i / 2 * 8,
                                            key + n * 8 + lane.pair + i % 2, scores[n][i],
                                            above[n][i], log_sum, dots)
                                  .gradient;
        }
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

template <Type kType, int kHead>
void launch_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q, Operand k,
                     Operand v, const float* log_sum, const float* dots, Result dq, Result dk,
                     Result dv) {
    launch("attention_backward (keys, tensor cores)", tensor_keys_kernel<kType, kHead>,
           over_rows_tensor_backward(shape.samples * shape.kv_heads, shape.keys, shape.head_dim, 2),
           stream, shape, dout, q, k, v, log_sum, dots, dk, dv);
    launch("attention_backward (queries, tensor cores)", tensor_queries_kernel<kType, kHead>,
           over_rows_tensor_backward(shape.samples * shape.heads, shape.queries, shape.head_dim, 1),
           stream, shape, dout, q, k, v, log_sum, dots, dq);
}

}  // namespace

void tensor_attention_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                               Operand k, Operand v, const float* log_sum, const float* dots,
                               Result dq, Result dk, Result dv) {
    const bool narrow = padded_head(shape.head_dim) == 64, bf16 = q.type == Type::Bf16;
    const auto backward =
        narrow ? (bf16 ? launch_backward<Type::Bf16, 64> : launch_backward<Type::Fp16, 64>)
               : (bf16 ? launch_backward<Type::Bf16, 128> : launch_backward<Type::Fp16, 128>);
    backward(stream, shape, dout, q, k, v, log_sum, dots, dq, dk, dv);
}

}  // namespace debubble::exec::cuda
