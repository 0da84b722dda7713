#include <algorithm>

#include "exec/cuda/kernels/attention_tensor_tiles.h"

namespace debubble::exec::cuda {

namespace {

/// The softmax along the way of the two rows that a lane has a part of, with three others.
struct RunningRows {
    float largest[2] = {-INFINITY, -INFINITY};
    float sum[2] = {0, 0};

    /// scores become their exponentials; `correction` is for what was summed before.
    template <int kTiles>
    __device__ void take(float (&scores)[kTiles][4], float (&correction)[2]) {
        DEBUBBLE_UNROLL
        for (int h = 0; h < 2; ++h) {
            float now = largest[h];
            DEBUBBLE_UNROLL
            for (int n = 0; n < kTiles; ++n)
                now = fmaxf(now, fmaxf(scores[n][2 * h], scores[n][2 * h + 1]));
            now = fmaxf(now, warp_xor(now, 1));
            now = fmaxf(now, warp_xor(now, 2));
            const float shift = now == -INFINITY ? 0.F : now;
            correction[h] = expf(largest[h] - shift);
            float added = 0;
            DEBUBBLE_UNROLL
            for (int n = 0; n < kTiles; ++n) {
                DEBUBBLE_UNROLL
                for (int i = 2 * h; i < 2 * h + 2; ++i) {
                    scores[n][i] = expf(scores[n][i] - shift);
                    added += scores[n][i];
                }
            }
            added += warp_xor(added, 1);
            added += warp_xor(added, 2);
            sum[h] = sum[h] * correction[h] + added;
            largest[h] = now;
        }
    }
};

template <Type kType, int kHead, bool kDropped>
__global__ void __launch_bounds__(kTensorThreads, kHead == 64 && !kDropped ? 3 : 2)
    tensor_forward_kernel(AttentionShape shape, Operand q, Operand k, Operand v, Result out,
                          float* log_sum) {
    constexpr int kStride = half_stride(kHead), kTurned = turned_stride(kForwardKeys);
    constexpr int kTiles = kForwardKeys / 8, kParts = kHead / 8;
    Half* const q_tile = shared_memory<Half>();
    Half* const k_tile = q_tile + kTensorRows * kStride;
    Half* const v_turned = k_tile + kForwardKeys * kStride;
    const Lane lane;

    const BlockPlace at(shape.heads, shape.queries, kTensorRows, Longest::LastRows);
    const std::int64_t kv_head = at.head / (shape.heads / shape.kv_heads);
    const HeadRows queries(at.sample, at.head, shape.queries, shape.heads, shape.head_dim);
    const HeadRows keys(at.sample, kv_head, shape.keys, shape.kv_heads, shape.head_dim);
    const int first_row = lane.warp * 16;
    TileOnItsWay<kTensorRows, kHead>(q, queries, at.row, shape.head_dim).write(q_tile);

    RunningRows rows;
    float sums[kParts][4] = {};
    const std::int64_t seen = seen_keys(shape, at.row + kTensorRows);
    for (std::int64_t key = 0; key < seen; key += kForwardKeys) {
        const TileOnItsWay<kForwardKeys, kHead> next_k(k, keys, key, shape.head_dim);
        const TileOnItsWay<kForwardKeys, kHead> next_v(v, keys, key, shape.head_dim);
        block_barrier();  // nobody reads the tiles before
        next_k.write(k_tile);
        next_v.write_turned(v_turned);
        block_barrier();

        float scores[kTiles][4] = {};
        add_products_over_head<kType, kHead>(scores, q_tile, first_row, k_tile, lane);
        DEBUBBLE_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            DEBUBBLE_UNROLL
            for (int i = 0; i < 4; ++i) scores[n][i] *= shape.scale;
        }
        if (!all_see(shape, at.row, kTensorRows, key, kForwardKeys)) {
            DEBUBBLE_UNROLL
            for (int n = 0; n < kTiles; ++n) {
                DEBUBBLE_UNROLL
                for (int i = 0; i < 4; ++i)
                    if (!sees(shape, at.row + first_row + lane.group + i / 2 * 8,
                              key + n * 8 + lane.pair + i % 2))
                        scores[n][i] = -INFINITY;
            }
        }
        float correction[2];
        rows.take<kTiles>(scores, correction);
        DEBUBBLE_UNROLL
        for (int n = 0; n < kParts; ++n) {
            DEBUBBLE_UNROLL
            for (int i = 0; i < 4; ++i) sums[n][i] *= correction[i / 2];
        }
        if (kDropped) {
            DEBUBBLE_UNROLL
            for (int n = 0; n < kTiles; ++n) {
                DEBUBBLE_UNROLL
                for (int i = 0; i < 4; ++i)
                    scores[n][i] *= kept_factor(shape, at.sample, at.head,
                                                at.row + first_row + lane.group + i / 2 * 8,
                                                key + n * 8 + lane.pair + i % 2);
            }
        }
        DEBUBBLE_UNROLL
        for (int n = 0; n < kTiles; n += 2) {
            const Left left = Left::of<kType>(scores[n], scores[n + 1]);
            DEBUBBLE_UNROLL
            for (int d = 0; d < kParts; ++d)
                add_product<kType>(sums[d], left, v_turned, kTurned, d * 8, n * 8, lane);
        }
    }

    DEBUBBLE_UNROLL
    for (int i = 0; i < 4; ++i) {
        const std::int64_t query = at.row + first_row + lane.group + i / 2 * 8;
        if (query >= shape.queries) continue;
        DEBUBBLE_UNROLL
        for (int n = 0; n < kParts; ++n) {
            const int d = n * 8 + lane.pair + i % 2;
            if (d < shape.head_dim)
                store(out, queries.first + query * queries.stride + d,
                      sums[n][i] / rows.sum[i / 2]);
        }
        if (lane.pair == 0 && i % 2 == 0)
            log_sum[(at.sample * shape.heads + at.head) * shape.queries + query] =
                rows.largest[i / 2] + logf(rows.sum[i / 2]);
    }
}

template <Type kType, bool kDropped>
constexpr auto forward_of(bool narrow) {
    return narrow ? tensor_forward_kernel<kType, 64, kDropped>
                  : tensor_forward_kernel<kType, 128, kDropped>;
}

}  // namespace

bool attention_is_for_tensor_cores(const AttentionShape& shape,
                                   std::initializer_list<Operand> operands) {
    return shape.head_dim % 8 == 0 && std::all_of(operands.begin(), operands.end(), [](Operand x) {
               return x.type != Type::Fp32 && reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
           });
}

void tensor_attention_forward(Stream stream, const AttentionShape& shape, Operand q, Operand k,
                              Operand v, Result out, float* log_sum) {
    const bool narrow = padded_head(shape.head_dim) == 64, bf16 = q.type == Type::Bf16;
    const auto kernel = shape.dropped.scale != 0.F ? (bf16 ? forward_of<Type::Bf16, true>(narrow)
                                                           : forward_of<Type::Fp16, true>(narrow))
                                                   : (bf16 ? forward_of<Type::Bf16, false>(narrow)
                                                           : forward_of<Type::Fp16, false>(narrow));
    launch("attention_forward (tensor cores)", kernel,
           over_queries_tensor(shape.samples * shape.heads, shape.queries, shape.head_dim), stream,
           shape, q, k, v, out, log_sum);
}

}  // namespace debubble::exec::cuda
