#include "exec/cuda/kernels/attention_tiles.h"

namespace debubble::exec::cuda {

namespace {

constexpr int kTile = kTileColumns;  ///< queries and keys of a tile
constexpr int kEach = kTile / kAcross;
constexpr int kScores = tile_stride(kTile);

/// dots [samples, heads, queries] = dout . out. Each kLanes threads of a warp take a row, each
/// thread a run of eight elements.
template <int kLanes>
__global__ void dots_kernel(AttentionShape shape, Operand dout, Operand out, float* dots) {
    const std::int64_t lines = shape.samples * shape.queries * shape.heads;
    const std::int64_t line = (block_index() * thread_count() + thread_index()) / kLanes;
    const int d = thread_index() % kLanes * kElementsEach;
    const Run run = shifted(run_from(d, line < lines ? shape.head_dim : 0), line * shape.head_dim);
    Eight a, b;
    if (lies_together(dout, run) && lies_together(out, run)) {  // both are fetched first
        const PackedEight above = fetch(dout, run.first), result = fetch(out, run.first);
        a = unpacked(dout.type, above);
        b = unpacked(out.type, result);
    } else {
        a = load_run(dout, run);
        b = load_run(out, run);
    }
    float sum = 0;
    DEBUBBLE_UNROLL
    for (int i = 0; i < kElementsEach; ++i) sum += a.at[i] * b.at[i];
    sum = over_lanes(sum, Add{}, kLanes);
    if (d != 0 || line >= lines) return;
    const std::int64_t head = line % shape.heads, row = line / shape.heads % shape.queries;
    const std::int64_t sample = line / shape.heads / shape.queries;
    dots[(sample * shape.heads + head) * shape.queries + row] = sum;
}

/// The tiles of one block of queries and one of keys, in shared memory.
template <int kHead>
struct Tiles {
    static constexpr int kStride = tile_stride(kHead);
    float* q = shared_memory<float>();
    float* dout = q + kTile * kStride;
    float* k = dout + kTile * kStride;
    float* v = k + kTile * kStride;
    float* p = v + kTile * kStride;   ///< probabilities after dropout, [queries][keys]
    float* ds = p + kTile * kScores;  ///< gradients of the scores, times their scale

    /// Fills p and ds. With m the dropout's factor: dp = m (dout . v), ds = p (dp - dot) scale.
    __device__ void make_scores(const AttentionShape& shape, std::int64_t sample, std::int64_t head,
                                std::int64_t query, std::int64_t key, const float* log_sum,
                                const float* dots) const {
        const std::int64_t line = (sample * shape.heads + head) * shape.queries;
        const Sight<std::int64_t> sight(shape);
        for (int r = thread_row() * kEach; r < (thread_row() + 1) * kEach; ++r) {
            for (int c = thread_column(); c < kTile; c += kAcross) {
                float probability = 0, gradient = 0;
                if (sight.sees(query + r, key + c)) {
                    const float score = dot<kHead>(q + r * kStride, k + c * kStride) * shape.scale;
                    const float above = dot<kHead>(dout + r * kStride, v + c * kStride);
                    const float kept = kept_factor(shape, sample, head, query + r, key + c);
                    const float whole = expf(score - log_sum[line + query + r]);
                    gradient = whole * (above * kept - dots[line + query + r]) * shape.scale;
                    probability = whole * kept;
                }
                p[r * kScores + c] = probability;
                ds[r * kScores + c] = gradient;
            }
        }
    }
};

/// A block owns some keys of a key head, and visits all queries of all heads that read it.
template <int kHead>
__global__ void __launch_bounds__(kAttentionThreads)
    keys_kernel(AttentionShape shape, Operand dout, Operand q, Operand k, Operand v,
                const float* log_sum, const float* dots, Result dk, Result dv) {
    constexpr int kStride = tile_stride(kHead), kColumnsEach = kHead / kAcross;
    const Tiles<kHead> tiles;
    const BlockPlace at(shape.kv_heads, shape.keys, kTile, Longest::FirstRows);
    const HeadRows keys(at.sample, at.head, shape.keys, shape.key_stride, shape.head_dim);
    load_tile<kTile, kHead>(tiles.k, k, keys, at.row, shape.head_dim);
    load_tile<kTile, kHead>(tiles.v, v, keys, at.row, shape.head_dim);

    float key_sums[kEach][kColumnsEach] = {}, value_sums[kEach][kColumnsEach] = {};
    const std::int64_t group = shape.heads / shape.kv_heads;
    // Queries before it see none of these keys.
    const std::int64_t hidden = at.row - shape.first_query;
    const std::int64_t first = shape.causal && hidden > 0 ? hidden / kTile * kTile : 0;
    for (std::int64_t head = at.head * group; head < (at.head + 1) * group; ++head) {
        const HeadRows queries(at.sample, head, shape.queries, shape.query_stride, shape.head_dim);
        const HeadRows above(at.sample, head, shape.queries, shape.out_stride, shape.head_dim);
        for (std::int64_t query = first; query < shape.queries; query += kTile) {
            block_barrier();  // no thread still reads the tiles before
            load_tile<kTile, kHead>(tiles.q, q, queries, query, shape.head_dim);
            load_tile<kTile, kHead>(tiles.dout, dout, above, query, shape.head_dim);
            block_barrier();
            tiles.make_scores(shape, at.sample, head, query, at.row, log_sum, dots);
            block_barrier();
            DEBUBBLE_UNROLL
            for (int i = 0; i < kEach; ++i) {
                const int c = thread_row() * kEach + i;
                for (int r = 0; r < kTile; ++r) {
                    const float p = tiles.p[r * kScores + c], ds = tiles.ds[r * kScores + c];
                    DEBUBBLE_UNROLL
                    for (int j = 0; j < kColumnsEach; ++j) {
                        const int d = r * kStride + thread_column() + j * kAcross;
                        value_sums[i][j] += p * tiles.dout[d];
                        key_sums[i][j] += ds * tiles.q[d];
                    }
                }
            }
        }
    }
    DEBUBBLE_UNROLL
    for (int i = 0; i < kEach; ++i) {
        const std::int64_t key = at.row + thread_row() * kEach + i;
        DEBUBBLE_UNROLL
        for (int j = 0; j < kColumnsEach; ++j) {
            const int d = thread_column() + j * kAcross;
            if (key >= shape.keys || d >= shape.head_dim) continue;
            const std::int64_t to = keys.first + key * keys.stride + d;
            store(dk, to, (shape.adds_keys ? load(dk, to) : 0) + key_sums[i][j]);
            store(dv, to, (shape.adds_keys ? load(dv, to) : 0) + value_sums[i][j]);
        }
    }
}

/// A block owns some queries of a head, and visits the keys that they see.
template <int kHead>
__global__ void __launch_bounds__(kAttentionThreads)
    queries_kernel(AttentionShape shape, Operand dout, Operand q, Operand k, Operand v,
                   const float* log_sum, const float* dots, Result dq) {
    constexpr int kStride = tile_stride(kHead), kColumnsEach = kHead / kAcross;
    const Tiles<kHead> tiles;
    const BlockPlace at(shape.heads, shape.queries, kTile, Longest::LastRows);
    const std::int64_t kv_head = at.head / (shape.heads / shape.kv_heads);
    const HeadRows queries(at.sample, at.head, shape.queries, shape.query_stride, shape.head_dim);
    const HeadRows above(at.sample, at.head, shape.queries, shape.out_stride, shape.head_dim);
    const HeadRows keys(at.sample, kv_head, shape.keys, shape.key_stride, shape.head_dim);
    load_tile<kTile, kHead>(tiles.q, q, queries, at.row, shape.head_dim);
    load_tile<kTile, kHead>(tiles.dout, dout, above, at.row, shape.head_dim);

    float sums[kEach][kColumnsEach] = {};
    const std::int64_t seen = Sight<std::int64_t>(shape).seen_before(at.row + kTile);
    for (std::int64_t key = 0; key < seen; key += kTile) {
        block_barrier();  // no thread still reads the tiles before
        load_tile<kTile, kHead>(tiles.k, k, keys, key, shape.head_dim);
        load_tile<kTile, kHead>(tiles.v, v, keys, key, shape.head_dim);
        block_barrier();
        tiles.make_scores(shape, at.sample, at.head, at.row, key, log_sum, dots);
        block_barrier();
        DEBUBBLE_UNROLL
        for (int i = 0; i < kEach; ++i) {
            const int r = thread_row() * kEach + i;
            for (int c = 0; c < kTile; ++c) {
                const float ds = tiles.ds[r * kScores + c];
                DEBUBBLE_UNROLL
                for (int j = 0; j < kColumnsEach; ++j)
                    sums[i][j] += ds * tiles.k[c * kStride + thread_column() + j * kAcross];
            }
        }
    }
    DEBUBBLE_UNROLL
    for (int i = 0; i < kEach; ++i) {
        const std::int64_t query = at.row + thread_row() * kEach + i;
        DEBUBBLE_UNROLL
        for (int j = 0; j < kColumnsEach; ++j) {
            const int d = thread_column() + j * kAcross;
            if (query < shape.queries && d < shape.head_dim)
                store(dq, queries.first + query * queries.stride + d, sums[i][j]);
        }
    }
}

template <int kHead>
void launch_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q, Operand k,
                     Operand v, const float* log_sum, const float* dots, Result dq, Result dk,
                     Result dv) {
    launch("attention_backward (keys)", keys_kernel<kHead>,
           over_keys_backward(shape.samples * shape.kv_heads, shape.keys, shape.head_dim), stream,
           shape, dout, q, k, v, log_sum, dots, dk, dv);
    launch("attention_backward (queries)", queries_kernel<kHead>,
           over_queries_backward(shape.samples * shape.heads, shape.queries, shape.head_dim),
           stream, shape, dout, q, k, v, log_sum, dots, dq);
}

}  // namespace

void attention_backward_input(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                              Operand k, Operand v, Operand out, const float* log_sum, float* dots,
                              Result dq, Result dk, Result dv) {
    const std::int64_t lines = shape.samples * shape.queries * shape.heads;
    const bool narrow = padded_head(shape.head_dim) == 64;
    launch("attention_backward (dots)", narrow ? dots_kernel<8> : dots_kernel<16>,
           over_elements(lines * padded_head(shape.head_dim)), stream, shape, dout, out, dots);
    if (attention_is_for_tensor_cores(shape, {dout, q, k, v, dq}, {dk, dv}))
        return tensor_attention_backward(stream, shape, dout, q, k, v, log_sum, dots, dq, dk, dv);
    const auto backward = narrow ? launch_backward<64> : launch_backward<128>;
    backward(stream, shape, dout, q, k, v, log_sum, dots, dq, dk, dv);
}

}  // namespace debubble::exec::cuda
