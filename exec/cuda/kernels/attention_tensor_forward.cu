#include <algorithm>

#include "exec/cuda/kernels/attention_tensor_tiles.h"

namespace debubble::exec::cuda {

namespace {

/// The online softmax of a lane's part of two rows of a strip, which it shares with three other
/// lanes.
struct RunningRows {
    float largest[2] = {-INFINITY, -INFINITY};
    float sum[2] = {0, 0};  ///< sum over the elements of this lane

    /// Replaces scores, which are to be multiplied by a positive scale, by powers of two;
    /// `correction` is the factor for everything that was summed before.
    template <int kTiles>
    __device__ void take(float (&scores)[kTiles][4], float scale, float (&correction)[2]) {
        DEBUBBLE_UNROLL
        for (int h = 0; h < 2; ++h) {
            float now = largest[h];
            DEBUBBLE_UNROLL
            for (int n = 0; n < kTiles; ++n)
                now = fmaxf(now, fmaxf(scores[n][2 * h], scores[n][2 * h + 1]));
            now = fmaxf(now, warp_xor(now, 1));
            now = fmaxf(now, warp_xor(now, 2));
            // The difference is taken first: so it is 0 where the largest has not changed, whatever
            // is contracted.
            const float from = now == -INFINITY ? 0.F : now, shift = from * scale;
            correction[h] = power_of_two((largest[h] - from) * scale);
            float added = 0;
            DEBUBBLE_UNROLL
            for (int n = 0; n < kTiles; ++n) {
                DEBUBBLE_UNROLL
                for (int i = 2 * h; i < 2 * h + 2; ++i) {
                    scores[n][i] = power_of_two(fmaf(scores[n][i], scale, -shift));
                    added += scores[n][i];
                }
            }
            sum[h] = sum[h] * correction[h] + added;
            largest[h] = now;
        }
    }
    /// Sums over all four lanes.
    __device__ void finish() {
        DEBUBBLE_UNROLL
        for (float& each : sum) {
            each += warp_xor(each, 1);
            each += warp_xor(each, 2);
        }
    }
};

/// A block owns 128 queries of a head, each of its warps 32. While it computes scores, the values
/// of the same keys are loaded, and while it weighs those, the next keys.
template <Type kType, int kHead, int kValue, bool kDropped>
__global__ void __launch_bounds__(kTensorThreads, 2)
    tensor_forward_kernel(AttentionShape shape, Operand q, Operand k, Operand v, Result out,
                          float* log_sum) {
    constexpr int kKeys = forward_keys(kHead), kTiles = kKeys / 8, kParts = kValue / 8;
    constexpr int kStrips = strips_of(kForwardQueries), kRows = kStrips * kStripRows;
    const Tile<kHead> q_tile(shared_memory<Half>()), k_tile(q_tile.after(kForwardQueries));
    const Tile<kValue> v_tile(k_tile.after(kKeys));
    const Lane lane;

    const BlockPlace at(shape.heads, shape.queries, kForwardQueries, Longest::LastRows);
    const std::int64_t kv_head = at.head / (shape.heads / shape.kv_heads);
    const HeadIn keys(k, at.sample, kv_head, shape.keys, shape.key_stride, shape.head_dim);
    const HeadIn values(v, at.sample, kv_head, shape.keys, shape.value_stride, shape.value_dim);
    const HeadIn queries(q, at.sample, at.head, shape.queries, shape.query_stride, shape.head_dim);
    const Sight<int> sight(shape);
    const LeftInShared<kHead> own_queries{q_tile, lane.warp * kRows};
    const int block_row = static_cast<int>(at.row), first_query = block_row + lane.warp * kRows;
    const float scale = shape.scale * kLog2E;
    q_tile.template fetch<kForwardQueries>(queries, block_row);
    const int seen = sight.seen_before(block_row + kForwardQueries);
    const int first_key = sight.first_seen(block_row, kKeys);
    k_tile.template fetch<kKeys>(keys, first_key);

    RunningRows rows[kStrips];
    float sums[kStrips][kParts][4] = {};
    for (int key = first_key; key < seen; key += kKeys) {
        await_copies();
        block_barrier();  // the keys are loaded, and no thread still reads the values before
        v_tile.template fetch<kKeys>(values, key);
        const bool sees_some = sight.some_see(first_query, kRows, key, kKeys);
        float scores[kStrips][kTiles][4];
        if (sees_some) products_over_head<kType>(scores, own_queries, k_tile, lane);
        await_copies();
        block_barrier();  // the values are loaded, and no thread still reads the keys
        if (key + kKeys < seen) k_tile.template fetch<kKeys>(keys, key + kKeys);
        if (!sees_some) continue;

        if (!sight.all_see(first_query, kRows, key, kKeys)) {
            DEBUBBLE_UNROLL
            for (int m = 0; m < kStrips; ++m) {
                DEBUBBLE_UNROLL
                for (int i = 0; i < 4; ++i) {
                    const int query = lane.row(first_query + m * kStripRows, i);
                    const int seen_here = sight.seen_from(query, lane.column(key, i));
                    const int hidden_here = sight.first_of(query) - lane.column(key, i);
                    DEBUBBLE_UNROLL
                    for (int n = 0; n < kTiles; ++n)
                        if (n * 8 >= seen_here || n * 8 < hidden_here) scores[m][n][i] = -INFINITY;
                }
            }
        }
        DEBUBBLE_UNROLL
        for (int m = 0; m < kStrips; ++m) {
            float correction[2];
            rows[m].take(scores[m], scale, correction);
            DEBUBBLE_UNROLL
            for (int n = 0; n < kParts; ++n) {
                DEBUBBLE_UNROLL
                for (int i = 0; i < 4; ++i) sums[m][n][i] *= correction[i / 2];
            }
            if (kDropped) {
                DEBUBBLE_UNROLL
                for (int n = 0; n < kTiles; ++n) {
                    DEBUBBLE_UNROLL
                    for (int i = 0; i < 4; i += 2) {
                        const DropoutPair kept(shape, at.sample, at.head,
                                               lane.row(first_query + m * kStripRows, i),
                                               lane.column(key + n * 8, i));
                        scores[m][n][i] *= kept.first;
                        scores[m][n][i + 1] *= kept.second;
                    }
                }
            }
        }
        add_weighted_rows<kType>(sums, scores, v_tile, lane);
    }

    float inverse[kStrips][2];
    DEBUBBLE_UNROLL
    for (int m = 0; m < kStrips; ++m) {
        rows[m].finish();
        DEBUBBLE_UNROLL
        for (int h = 0; h < 2; ++h) {
            inverse[m][h] = 1 / rows[m].sum[h];
            const int query = lane.row(first_query + m * kStripRows, 2 * h);
            if (lane.pair == 0 && query < sight.queries)
                log_sum[(at.sample * shape.heads + at.head) * shape.queries + query] =
                    rows[m].largest[h] * shape.scale + logf(rows[m].sum[h]);
        }
    }
    const HeadRows results(at.sample, at.head, shape.queries, shape.out_stride, shape.value_dim);
    for_each_row<kStrips>(first_query, results, shape.value_dim, lane,
                          [&](int m, int i, std::int64_t to, int width) {
                              store_pairs<kType>(out, to, width, i, inverse[m][i / 2], sums[m]);
                          });
}

template <Type kType, bool kDropped>
constexpr auto forward_of(HeadWidths widths) {
    return widths.keys == 64    ? tensor_forward_kernel<kType, 64, 64, kDropped>
           : widths.keys == 128 ? tensor_forward_kernel<kType, 128, 128, kDropped>
                                : tensor_forward_kernel<kType, 192, 128, kDropped>;
}

}  // namespace

bool attention_is_for_tensor_cores(const AttentionShape& shape,
                                   std::initializer_list<Operand> operands,
                                   std::initializer_list<Result> key_gradients) {
    const auto lies_well = [](const Operand& x) {
        return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
    };
    // The kernels count these numbers in 32 bits.
    const auto is_counted = [](std::int64_t number) { return number < std::int64_t{1} << 30; };
    return shape.head_dim % 8 == 0 && shape.value_dim % 8 == 0 && shape.scale > 0 &&
           shape.soft_cap == 0.F && shape.alibi_heads == 0 && shape.query_stride % 8 == 0 &&
           shape.key_stride % 8 == 0 && shape.value_stride % 8 == 0 &&
           is_counted(shape.query_stride) && is_counted(shape.key_stride) &&
           is_counted(shape.value_stride) && is_counted(shape.out_stride) &&
           is_counted(shape.samples * shape.keys) &&
           is_counted(shape.samples * shape.heads * shape.queries) &&
           is_counted(shape.first_query + shape.queries) && operands.begin()->type != Type::Fp32 &&
           std::all_of(
               operands.begin(), operands.end(),
               [&](Operand x) { return x.type == operands.begin()->type && lies_well(x); }) &&
           std::all_of(key_gradients.begin(), key_gradients.end(), lies_well);
}

void tensor_attention_forward(Stream stream, const AttentionShape& shape, Operand q, Operand k,
                              Operand v, Result out, float* log_sum) {
    const HeadWidths widths = widths_of(shape.head_dim, shape.value_dim);
    const bool bf16 = q.type == Type::Bf16;
    const auto kernel = shape.dropped.scale != 0.F ? (bf16 ? forward_of<Type::Bf16, true>(widths)
                                                           : forward_of<Type::Fp16, true>(widths))
                                                   : (bf16 ? forward_of<Type::Bf16, false>(widths)
                                                           : forward_of<Type::Fp16, false>(widths));
    launch("attention_forward (tensor cores)", kernel,
           over_queries_tensor(shape.samples * shape.heads, shape.queries, widths), stream, shape,
           q, k, v, out, log_sum);
}

}  // namespace debubble::exec::cuda
