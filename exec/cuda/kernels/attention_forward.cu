#include "exec/cuda/kernels/attention_tiles.h"

namespace debubble::exec::cuda {

namespace {

constexpr int kRowsEach = kTileRows / kAcross;
constexpr int kKeysEach = kTileColumns / kAcross;

__device__ float half_warp_sum(float value) {
    for (int lanes = kAcross / 2; lanes > 0; lanes /= 2) value += warp_xor(value, lanes);
    return value;
}
__device__ float half_warp_largest(float value) {
    for (int lanes = kAcross / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, warp_xor(value, lanes));
    return value;
}

/// The online softmax (Milakov and Gimelshein 2018) of one row.
struct RunningRow {
    float largest = -INFINITY;
    float sum = 0;

    /// Replaces the scores [kKeysEach] of this thread by their exponentials. Returns the factor for
    /// everything that was summed before.
    __device__ float take(float* scores) {
        float mine = -INFINITY;
        DEBUBBLE_UNROLL
        for (int c = 0; c < kKeysEach; ++c) mine = fmaxf(mine, scores[c]);
        const float now = fmaxf(largest, half_warp_largest(mine));
        const float correction = largest == -INFINITY ? 0.F : expf(largest - now);
        float added = 0;
        DEBUBBLE_UNROLL
        for (int c = 0; c < kKeysEach; ++c) {
            scores[c] = scores[c] == -INFINITY ? 0.F : expf(scores[c] - now);
            added += scores[c];
        }
        sum = sum * correction + half_warp_sum(added);
        largest = now;
        return correction;
    }
};

template <int kHead, int kValue>
__global__ void __launch_bounds__(kAttentionThreads)
    forward_kernel(AttentionShape shape, Operand q, Operand k, Operand v, Result out,
                   float* log_sum) {
    constexpr int kStride = tile_stride(kHead), kScores = tile_stride(kTileColumns);
    constexpr int kValueStride = tile_stride(kValue), kColumnsEach = kValue / kAcross;
    float* const q_tile = shared_memory<float>();
    float* const k_tile = q_tile + kTileRows * kStride;
    float* const v_tile = k_tile + kTileColumns * kStride;
    float* const p_tile = v_tile + kTileColumns * kValueStride;

    const BlockPlace at(shape.heads, shape.queries, kTileRows, Longest::LastRows);
    const std::int64_t kv_head = at.head / (shape.heads / shape.kv_heads);
    const HeadRows queries(at.sample, at.head, shape.queries, shape.query_stride, shape.head_dim);
    const HeadRows keys(at.sample, kv_head, shape.keys, shape.key_stride, shape.head_dim);
    const HeadRows values(at.sample, kv_head, shape.keys, shape.value_stride, shape.value_dim);
    const int first_row = thread_row() * kRowsEach;
    load_tile<kTileRows, kHead>(q_tile, q, queries, at.row, shape.head_dim);

    RunningRow rows[kRowsEach];
    float sums[kRowsEach][kColumnsEach] = {};
    const Sight<std::int64_t> sight(shape);
    const Lowering lowering(shape, at.head);
    const std::int64_t seen = sight.seen_before(at.row + kTileRows);
    for (std::int64_t key = sight.first_seen(at.row, kTileColumns); key < seen;
         key += kTileColumns) {
        block_barrier();  // no thread still reads the tiles before
        load_tile<kTileColumns, kHead>(k_tile, k, keys, key, shape.head_dim);
        load_tile<kTileColumns, kValue>(v_tile, v, values, key, shape.value_dim);
        block_barrier();
        DEBUBBLE_UNROLL
        for (int r = 0; r < kRowsEach; ++r) {
            const std::int64_t query = at.row + first_row + r;
            float scores[kKeysEach];
            DEBUBBLE_UNROLL
            for (int c = 0; c < kKeysEach; ++c) {
                const int column = thread_column() + c * kAcross;
                const float product =
                    dot<kHead>(q_tile + (first_row + r) * kStride, k_tile + column * kStride);
                scores[c] = sight.sees(query, key + column)
                                ? Capped(shape, product * shape.scale).score -
                                      lowering.of(query, key + column)
                                : -INFINITY;
            }
            const float correction = rows[r].take(scores);
            DEBUBBLE_UNROLL
            for (float& sum : sums[r]) sum *= correction;
            DEBUBBLE_UNROLL
            for (int c = 0; c < kKeysEach; ++c) {
                const int column = thread_column() + c * kAcross;
                p_tile[(first_row + r) * kScores + column] =
                    scores[c] * dropout_factor(shape, at.sample, at.head, query, key + column);
            }
        }
        block_barrier();
        for (int c = 0; c < kTileColumns; ++c) {
            DEBUBBLE_UNROLL
            for (int j = 0; j < kColumnsEach; ++j) {
                const float value = v_tile[c * kValueStride + thread_column() + j * kAcross];
                DEBUBBLE_UNROLL
                for (int r = 0; r < kRowsEach; ++r)
                    sums[r][j] += p_tile[(first_row + r) * kScores + c] * value;
            }
        }
    }

    const HeadRows results(at.sample, at.head, shape.queries, shape.out_stride, shape.value_dim);
    DEBUBBLE_UNROLL
    for (int r = 0; r < kRowsEach; ++r) {
        const std::int64_t query = at.row + first_row + r;
        if (query >= shape.queries) continue;
        DEBUBBLE_UNROLL
        for (int j = 0; j < kColumnsEach; ++j) {
            const int d = thread_column() + j * kAcross;
            if (d < shape.value_dim)
                store(out, results.first + query * results.stride + d, sums[r][j] / rows[r].sum);
        }
        if (thread_column() == 0)
            log_sum[(at.sample * shape.heads + at.head) * shape.queries + query] =
                rows[r].largest + logf(rows[r].sum);
    }
}

}  // namespace

void attention_forward(Stream stream, const AttentionShape& shape, Operand q, Operand k, Operand v,
                       Result out, float* log_sum) {
    if (attention_is_for_tensor_cores(shape, {q, k, v, out}))
        return tensor_attention_forward(stream, shape, q, k, v, out, log_sum);
    const HeadWidths widths = widths_of(shape.head_dim, shape.value_dim);
    const Geometry how = over_queries(shape.samples * shape.heads, shape.queries, widths);
    const auto kernel = widths.keys == 64    ? forward_kernel<64, 64>
                        : widths.keys == 128 ? forward_kernel<128, 128>
                                             : forward_kernel<192, 128>;
    launch("attention_forward", kernel, how, stream, shape, q, k, v, out, log_sum);
}

}  // namespace debubble::exec::cuda
