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
    const ElementRun run =
        shifted(run_from(d, line < lines ? shape.value_dim : 0), line * shape.value_dim);
    Vec8 a, b;
    if (is_aligned_run(dout, run) && is_aligned_run(out, run)) {  // both are fetched first
        const Packed128 above = fetch(dout, run.first), result = fetch(out, run.first);
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
template <int kHead, int kValue>
struct Tiles {
    static constexpr int kStride = tile_stride(kHead), kValueStride = tile_stride(kValue);
    float* q = shared_memory<float>();
    float* dout = q + kTile * kStride;
    float* k = dout + kTile * kValueStride;
    float* v = k + kTile * kStride;
    float* p = v + kTile * kValueStride;  ///< probabilities after dropout, [queries][keys]
    float* ds = p + kTile * kScores;      ///< gradients of the scores, times their scale

    /// Fills p and ds. With m the dropout's factor: dp = m (dout . v), ds = p (dp - dot) scale.
    __device__ void make_scores(const AttentionShape& shape, std::int64_t sample, std::int64_t head,
                                std::int64_t query, std::int64_t key, const float* log_sum,
                                const float* dots) const {
        const std::int64_t line = (sample * shape.heads + head) * shape.queries;
        const Sight<std::int64_t> sight(shape);
        const Lowering lowering(shape, head);
        for (int r = thread_row() * kEach; r < (thread_row() + 1) * kEach; ++r) {
            for (int c = thread_column(); c < kTile; c += kAcross) {
                float probability = 0, gradient = 0;
                if (sight.sees(query + r, key + c)) {
                    const Capped capped(shape,
                                        dot<kHead>(q + r * kStride, k + c * kStride) * shape.scale);
                    const float above = dot<kValue>(dout + r * kValueStride, v + c * kValueStride);
                    const float kept = dropout_factor(shape, sample, head, query + r, key + c);
                    const float whole = expf(capped.score - lowering.of(query + r, key + c) -
                                             log_sum[line + query + r]);
                    gradient = whole * (above * kept - dots[line + query + r]) * shape.scale *
                               capped.slope;
                    probability = whole * kept;
                }
                p[r * kScores + c] = probability;
                ds[r * kScores + c] = gradient;
            }
        }
    }
};

/// A block owns some keys of a key head, and visits all queries of all heads that read it.
template <int kHead, int kValue>
__global__ void __launch_bounds__(kAttentionThreads)
    keys_kernel(AttentionShape shape, Operand dout, Operand q, Operand k, Operand v,
                const float* log_sum, const float* dots, Result dk, Result dv) {
    constexpr int kKeysEach = kHead / kAcross, kValuesEach = kValue / kAcross;
    const Tiles<kHead, kValue> tiles;
    const BlockPlace at(shape.kv_heads, shape.keys, kTile, Longest::FirstRows);
    const HeadRows keys(at.sample, at.head, shape.keys, shape.key_stride, shape.head_dim);
    const HeadRows values(at.sample, at.head, shape.keys, shape.value_stride, shape.value_dim);
    load_tile<kTile, kHead>(tiles.k, k, keys, at.row, shape.head_dim);
    load_tile<kTile, kValue>(tiles.v, v, values, at.row, shape.value_dim);

    float key_sums[kEach][kKeysEach] = {}, value_sums[kEach][kValuesEach] = {};
    const std::int64_t group = shape.heads / shape.kv_heads;
    // Queries before the first, and from the end on, see none of these keys.
    const std::int64_t hidden = at.row - shape.first_query;
    const std::int64_t first = shape.causal && hidden > 0 ? hidden / kTile * kTile : 0;
    const std::int64_t end = Sight<std::int64_t>(shape).queries_until(at.row + kTile);
    for (std::int64_t head = at.head * group; head < (at.head + 1) * group; ++head) {
        const HeadRows queries(at.sample, head, shape.queries, shape.query_stride, shape.head_dim);
        const HeadRows above(at.sample, head, shape.queries, shape.out_stride, shape.value_dim);
        for (std::int64_t query = first; query < end; query += kTile) {
            block_barrier();  // no thread still reads the tiles before
            load_tile<kTile, kHead>(tiles.q, q, queries, query, shape.head_dim);
            load_tile<kTile, kValue>(tiles.dout, dout, above, query, shape.value_dim);
            block_barrier();
            tiles.make_scores(shape, at.sample, head, query, at.row, log_sum, dots);
            block_barrier();
            DEBUBBLE_UNROLL
            for (int i = 0; i < kEach; ++i) {
                const int c = thread_row() * kEach + i;
                for (int r = 0; r < kTile; ++r) {
                    const float p = tiles.p[r * kScores + c], ds = tiles.ds[r * kScores + c];
                    const float* const q_row = tiles.q + r * tiles.kStride + thread_column();
                    const float* const dout_row =
                        tiles.dout + r * tiles.kValueStride + thread_column();
                    DEBUBBLE_UNROLL
                    for (int j = 0; j < kValuesEach; ++j)
                        value_sums[i][j] += p * dout_row[j * kAcross];
                    DEBUBBLE_UNROLL
                    for (int j = 0; j < kKeysEach; ++j) key_sums[i][j] += ds * q_row[j * kAcross];
                }
            }
        }
    }
    DEBUBBLE_UNROLL
    for (int i = 0; i < kEach; ++i) {
        const std::int64_t key = at.row + thread_row() * kEach + i;
        if (key >= shape.keys) continue;
        DEBUBBLE_UNROLL
        for (int j = 0; j < kKeysEach; ++j) {
            const int d = thread_column() + j * kAcross;
            if (d >= shape.head_dim) continue;
            const std::int64_t to = keys.first + key * keys.stride + d;
            store(dk, to, (shape.adds_keys ? load(dk, to) : 0) + key_sums[i][j]);
        }
        DEBUBBLE_UNROLL
        for (int j = 0; j < kValuesEach; ++j) {
            const int d = thread_column() + j * kAcross;
            if (d >= shape.value_dim) continue;
            const std::int64_t to = values.first + key * values.stride + d;
            store(dv, to, (shape.adds_keys ? load(dv, to) : 0) + value_sums[i][j]);
        }
    }
}

/// A block owns some queries of a head, and visits the keys that they see.
template <int kHead, int kValue>
__global__ void __launch_bounds__(kAttentionThreads)
    queries_kernel(AttentionShape shape, Operand dout, Operand q, Operand k, Operand v,
                   const float* log_sum, const float* dots, Result dq) {
    constexpr int kStride = tile_stride(kHead), kColumnsEach = kHead / kAcross;
    const Tiles<kHead, kValue> tiles;
    const BlockPlace at(shape.heads, shape.queries, kTile, Longest::LastRows);
    const std::int64_t kv_head = at.head / (shape.heads / shape.kv_heads);
    const HeadRows queries(at.sample, at.head, shape.queries, shape.query_stride, shape.head_dim);
    const HeadRows above(at.sample, at.head, shape.queries, shape.out_stride, shape.value_dim);
    const HeadRows keys(at.sample, kv_head, shape.keys, shape.key_stride, shape.head_dim);
    const HeadRows values(at.sample, kv_head, shape.keys, shape.value_stride, shape.value_dim);
    load_tile<kTile, kHead>(tiles.q, q, queries, at.row, shape.head_dim);
    load_tile<kTile, kValue>(tiles.dout, dout, above, at.row, shape.value_dim);

    float sums[kEach][kColumnsEach] = {};
    const Sight<std::int64_t> sight(shape);
    const std::int64_t seen = sight.seen_before(at.row + kTile);
    for (std::int64_t key = sight.first_seen(at.row, kTile); key < seen; key += kTile) {
        block_barrier();  // no thread still reads the tiles before
        load_tile<kTile, kHead>(tiles.k, k, keys, key, shape.head_dim);
        load_tile<kTile, kValue>(tiles.v, v, values, key, shape.value_dim);
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

template <int kHead, int kValue>
void launch_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q, Operand k,
                     Operand v, const float* log_sum, const float* dots, Result dq, Result dk,
                     Result dv) {
    constexpr HeadWidths kWidths{kHead, kValue};
    launch("attention_backward (keys)", keys_kernel<kHead, kValue>,
           over_keys_backward(shape.samples * shape.kv_heads, shape.keys, kWidths), stream, shape,
           dout, q, k, v, log_sum, dots, dk, dv);
    launch("attention_backward (queries)", queries_kernel<kHead, kValue>,
           over_queries_backward(shape.samples * shape.heads, shape.queries, kWidths), stream,
           shape, dout, q, k, v, log_sum, dots, dq);
}

/// Writes dout . out of every query.
void launch_dots(Stream stream, const AttentionShape& shape, Operand dout, Operand out,
                 float* dots) {
    const std::int64_t lines = shape.samples * shape.queries * shape.heads;
    const bool narrow = shape.value_dim <= 64;
    launch("attention_backward (dots)", narrow ? dots_kernel<8> : dots_kernel<16>,
           over_elements(lines * (narrow ? 64 : 128)), stream, shape, dout, out, dots);
}

}  // namespace

void attention_backward_input(Stream stream, const AttentionShape& shape, Operand dout, Operand q,
                              Operand k, Operand v, Operand out, const float* log_sum, float* dots,
                              Result dq, Result dk, Result dv) {
    launch_dots(stream, shape, dout, out, dots);
    if (attention_is_for_tensor_cores(shape, {dout, q, k, v, dq}, {dk, dv}))
        return tensor_attention_backward(stream, shape, dout, q, k, v, log_sum, dots, dq, dk, dv);
    const HeadWidths widths = widths_of(shape.head_dim, shape.value_dim);
    const auto backward = widths.keys == 64    ? launch_backward<64, 64>
                          : widths.keys == 128 ? launch_backward<128, 128>
                                               : launch_backward<192, 128>;
    backward(stream, shape, dout, q, k, v, log_sum, dots, dq, dk, dv);
}

namespace {

/// Scales the runs of out [samples, queries, heads, value_dim], eight elements to a thread.
__global__ void sinks_scale_kernel(AttentionShape shape, Operand sinks, Result out,
                                   const float* log_sum) {
    const ElementRun run =
        run_of_thread(shape.samples * shape.queries * shape.heads * shape.value_dim);
    const int each = shape.value_dim % kElementsEach == 0 ? kElementsEach : 1;
    for (int i = 0; i < run.count; i += each) {
        const ElementRun piece{run.first + i, each};
        const std::int64_t line = piece.first / shape.value_dim;
        const std::int64_t head = line % shape.heads, row = line / shape.heads % shape.queries;
        const std::int64_t sample = line / shape.heads / shape.queries;
        const float alone = log_sum[(sample * shape.heads + head) * shape.queries + row];
        const float share = 1.F / (1.F + expf(load(sinks, head) - alone));
        Vec8 values = load_run(out, piece);
        DEBUBBLE_UNROLL
        for (int j = 0; j < kElementsEach; ++j) values.at[j] *= share;
        store_run(out, piece, values);
    }
}

/// Raises the elements of log_sum [samples, heads, queries].
__global__ void sinks_raise_kernel(AttentionShape shape, Operand sinks, float* log_sum) {
    const ElementRun run = run_of_thread(shape.samples * shape.heads * shape.queries);
    for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
        const float sink = load(sinks, i / shape.queries % shape.heads), alone = log_sum[i];
        const float largest = fmaxf(alone, sink);
        log_sum[i] = largest + logf(expf(alone - largest) + expf(sink - largest));
    }
}

/// A block adds up the rows of one head, in an order that depends on their number alone.
__global__ void sinks_backward_kernel(AttentionShape shape, const float* log_sum, const float* dots,
                                      Operand sinks, Result dsinks) {
    const std::int64_t head = block_index(), rows = shape.samples * shape.queries;
    const float sink = load(sinks, head);
    float sum = 0;
    for (std::int64_t i = thread_index(); i < rows; i += thread_count()) {
        const std::int64_t at =
            (i / shape.queries * shape.heads + head) * shape.queries + i % shape.queries;
        sum += expf(sink - log_sum[at]) * dots[at];
    }
    sum = over_block(sum, Add{}, shared_memory<float>());
    if (thread_index() == 0) store(dsinks, head, load(dsinks, head) - sum);
}

}  // namespace

void sinks_forward(Stream stream, const AttentionShape& shape, Operand sinks, Result out,
                   float* log_sum) {
    const std::int64_t lines = shape.samples * shape.queries * shape.heads;
    launch("sinks_forward (out)", sinks_scale_kernel, over_elements(lines * shape.value_dim),
           stream, shape, sinks, out, static_cast<const float*>(log_sum));
    launch("sinks_forward (log_sum)", sinks_raise_kernel, over_elements(lines), stream, shape,
           sinks, log_sum);
}

void sinks_backward(Stream stream, const AttentionShape& shape, Operand dout, Operand out,
                    const float* log_sum, float* dots, Operand sinks, Result dsinks) {
    launch_dots(stream, shape, dout, out, dots);
    launch("sinks_backward", sinks_backward_kernel, over_rows(shape.heads), stream, shape, log_sum,
           static_cast<const float*>(dots), sinks, dsinks);
}

}  // namespace debubble::exec::cuda
