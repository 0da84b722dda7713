#include "exec/cuda/kernels/heads.h"

#include "exec/cuda/kernels/load.h"

namespace debubble::exec::cuda {

namespace {

/// A pair of columns, turned by an angle.
__device__ Pair turned(Pair x, float cosine, float sine) {
    return {x.low * cosine - x.high * sine, x.high * cosine + x.low * sine};
}

/// A thread rotates eight pairs.
__global__ void rotate_kernel(Rotation how, const float* cosines, const float* sines, Result x) {
    const ElementRun run = run_of_thread(how.samples * how.rows * how.turned * how.pairs);
    // A run stays in its head and its pairs are contiguous, or each pair is a run.
    const bool together = !how.neighbours && how.pairs % kElementsEach == 0;
    const int each = together ? kElementsEach : 1;
    const std::int64_t apart = how.neighbours ? 1 : how.pairs, step = how.neighbours ? 2 : 1;
    for (int i = 0; i < run.count; i += each) {
        const std::int64_t pair = run.first + i;
        const std::int64_t line = pair / how.pairs, row = line / how.turned;
        const std::int64_t position = how.first_position + row % how.rows;
        const std::int64_t head = row * how.heads + line % how.turned;
        const ElementRun low{head * how.head_dim + how.first_column + pair % how.pairs * step,
                             each};
        const ElementRun high = shifted(low, apart);
        const ElementRun angles{position * how.pairs + pair % how.pairs, each};
        const Vec8 cosine = load_run({cosines, Type::Fp32}, angles);
        const Vec8 sine = load_run({sines, Type::Fp32}, angles);
        Vec8 a = load_run(x, low), b = load_run(x, high);
        DEBUBBLE_UNROLL
        for (int j = 0; j < kElementsEach; ++j) {
            const Pair now = turned({a.at[j], b.at[j]}, cosine.at[j], how.direction * sine.at[j]);
            a.at[j] = now.low;
            b.at[j] = now.high;
        }
        store_run(x, low, a);
        store_run(x, high, b);
    }
}

__device__ std::int64_t column_of_head(const NormedHeads& how, std::int64_t head) {
    return how.first_column + head * (how.head_dim + how.gap);
}
__device__ std::int64_t kept_column_of_head(const NormedHeads& how, std::int64_t head) {
    return how.first_column - how.gaps_before + head * how.head_dim;
}

/// The head of a warp, whose lanes take every kWarp-th column each.
struct WarpHead {
    std::int64_t line, token, head;
    bool there;
    int lane;

    __device__ explicit WarpHead(const NormedHeads& how)
        : line(block_index() * (thread_count() / kWarp) + thread_index() / kWarp),
          token(line / how.heads),
          head(line % how.heads),
          there(token < how.tokens),
          lane(thread_index() % kWarp) {}
    __device__ std::int64_t in_x(const NormedHeads& how) const {
        return token * how.x_columns + column_of_head(how, head);
    }
    __device__ std::int64_t in_kept(const NormedHeads& how) const {
        return token * how.kept_columns + kept_column_of_head(how, head);
    }
    __device__ std::int64_t statistic(const NormedHeads& how) const {
        return token * how.all_heads + how.first_head + head;
    }
};

__global__ void head_norm_forward_kernel(NormedHeads how, float eps, Operand gain, Result x,
                                         Result kept, float* statistics) {
    const WarpHead at(how);
    const int width = at.there ? static_cast<int>(how.head_dim) : 0;
    float squares = 0;
    for (int j = at.lane; j < width; j += kWarp) {
        const float value = load(x, at.in_x(how) + j);
        store(kept, at.in_kept(how) + j, value);
        squares += value * value;
    }
    squares = over_lanes(squares, Add{});
    const float scale = 1.F / sqrtf(squares / static_cast<float>(how.head_dim) + eps);
    for (int j = at.lane; j < width; j += kWarp) {
        const float value = load(x, at.in_x(how) + j) * scale;
        store(x, at.in_x(how) + j, gain ? value * load(gain, j) : value);
    }
    if (at.there && at.lane == 0) statistics[at.statistic(how)] = scale;
}

/// With g = dy * gain: dx = scale (g - x scale^2 mean(g x)).
__global__ void head_norm_backward_input_kernel(NormedHeads how, Operand gain, Operand kept,
                                                const float* statistics, Result dx) {
    const WarpHead at(how);
    const int width = at.there ? static_cast<int>(how.head_dim) : 0;
    const auto g_of = [&](int j) {
        const float above = load(dx, at.in_x(how) + j);
        return gain ? above * load(gain, j) : above;
    };
    float product = 0;
    for (int j = at.lane; j < width; j += kWarp)
        product += g_of(j) * load(kept, at.in_kept(how) + j);
    product = over_lanes(product, Add{});
    const float scale = at.there ? statistics[at.statistic(how)] : 0.F;
    const float pull = scale * scale * product / static_cast<float>(how.head_dim);
    for (int j = at.lane; j < width; j += kWarp) {
        const float value = load(kept, at.in_kept(how) + j);
        store(dx, at.in_x(how) + j, scale * (g_of(j) - value * pull));
    }
}

/// partials [chunks, head_dim]: a thread adds up a column over the heads of a chunk.
__global__ void head_norm_chunks_kernel(NormedHeads how, Operand kept, const float* statistics,
                                        Operand dy, float* partials) {
    const std::int64_t rows = how.tokens * how.heads, chunks = chunks_of(rows);
    const std::int64_t index = block_index() * thread_count() + thread_index();
    const std::int64_t chunk = index / how.head_dim, column = index % how.head_dim;
    if (chunk >= chunks) return;
    float sum = 0;
    const std::int64_t end = first_of_chunk(chunk + 1, chunks, rows);
    for (std::int64_t row = first_of_chunk(chunk, chunks, rows); row < end; ++row) {
        const std::int64_t token = row / how.heads, head = row % how.heads;
        const std::int64_t at = token * how.x_columns + column_of_head(how, head);
        const std::int64_t kept_at = token * how.kept_columns + kept_column_of_head(how, head);
        sum += load(dy, at + column) * load(kept, kept_at + column) *
               statistics[token * how.all_heads + how.first_head + head];
    }
    partials[index] = sum;
}

/// A thread adds up the chunks of a column, in their order.
__global__ void head_norm_gain_kernel(std::int64_t chunks, std::int64_t width,
                                      const float* partials, Result dgain) {
    const std::int64_t column = block_index() * thread_count() + thread_index();
    if (column >= width) return;
    float sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += partials[chunk * width + column];
    store(dgain, column, load(dgain, column) + sum);
}

/// A warp adds up a row.
template <class Term>
__device__ void sum_row(const NormedHeads& how, float* sums, Term term) {
    const WarpHead at(how);
    const int width = at.there ? static_cast<int>(how.head_dim) : 0;
    float sum = 0;
    for (int j = at.lane; j < width; j += kWarp) sum += term(at, j);
    sum = over_lanes(sum, Add{});
    if (at.there && at.lane == 0) sums[at.statistic(how)] = sum;
}

__global__ void width_norm_sums_kernel(NormedHeads how, Operand x, float* sums) {
    sum_row(how, sums, [&](const WarpHead& at, int j) {
        const float value = load(x, at.in_x(how) + j);
        return value * value;
    });
}

__global__ void width_norm_gradient_sums_kernel(NormedHeads how, Operand gain, Operand kept,
                                                Operand dy, float* sums) {
    sum_row(how, sums, [&](const WarpHead& at, int j) {
        return load(dy, at.in_x(how) + j) * load(gain, j) * load(kept, at.in_kept(how) + j);
    });
}

__global__ void width_norm_forward_kernel(NormedHeads how, float eps, std::int64_t columns,
                                          Operand gain, const float* sums, Result x, Result kept,
                                          float* statistics) {
    const WarpHead at(how);
    if (!at.there) return;
    const float mean = sums[at.statistic(how)] / static_cast<float>(columns);
    const float scale = 1.F / sqrtf(mean + eps);
    for (int j = at.lane; j < how.head_dim; j += kWarp) {
        const float value = load(x, at.in_x(how) + j);
        store(kept, at.in_kept(how) + j, value);
        store(x, at.in_x(how) + j, value * scale * load(gain, j));
    }
    if (at.lane == 0) statistics[at.statistic(how)] = scale;
}

__global__ void width_norm_backward_kernel(NormedHeads how, std::int64_t columns, Operand gain,
                                           Operand kept, const float* statistics, const float* sums,
                                           Result dx) {
    const WarpHead at(how);
    if (!at.there) return;
    const float scale = statistics[at.statistic(how)];
    const float pull = scale * scale * sums[at.statistic(how)] / static_cast<float>(columns);
    for (int j = at.lane; j < how.head_dim; j += kWarp) {
        const float g = load(dx, at.in_x(how) + j) * load(gain, j);
        store(dx, at.in_x(how) + j, scale * (g - load(kept, at.in_kept(how) + j) * pull));
    }
}

/// A thread multiplies eight elements of a row.
__global__ void grow_kernel(Growth how, Result x) {
    const std::int64_t width = how.grown * how.head_dim;
    const ElementRun run = run_of_thread(how.samples * how.rows * width);
    const int each = width % kElementsEach == 0 ? kElementsEach : 1;
    for (int i = 0; i < run.count; i += each) {
        const std::int64_t row = (run.first + i) / width, column = (run.first + i) % width;
        const auto position = static_cast<float>(how.first_position + row % how.rows + 1);
        const float factor = 1.F + how.scale * logf(1.F + floorf(position / how.floor));
        const ElementRun piece{row * how.heads * how.head_dim + column, each};
        Vec8 values = load_run(x, piece);
        DEBUBBLE_UNROLL
        for (int j = 0; j < kElementsEach; ++j) values.at[j] *= factor;
        store_run(x, piece, values);
    }
}

Geometry over_heads(const NormedHeads& how) {
    return over_tokens(how.tokens * how.heads);
}

/// The element of a head, or the pair of rotated columns, that a thread takes in every operand. The
/// threads of a head take its own columns first, then its values, then the rotated pairs.
struct LatentPlace {
    enum class Part { None, Own, Value, Rotated };
    Part part = Part::None;
    std::int64_t row = 0;
    std::int64_t key = 0, key_value = 0,
                 value = 0;              ///< element of q and k, of keys_values, and of v
    std::int64_t angle = 0, shared = 0;  ///< element of the tables, and of the shared columns

    __device__ explicit LatentPlace(const LatentShape& how) {
        const std::int64_t columns = how.own + how.values + how.pairs;
        const std::int64_t index = block_index() * thread_count() + thread_index();
        const std::int64_t line = index / columns, column = index % columns;
        row = line / how.heads;
        if (row >= how.samples * how.rows) return;
        const std::int64_t pair = column - how.own - how.values;
        part = column < how.own ? Part::Own : pair < 0 ? Part::Value : Part::Rotated;
        key = line * (how.own + 2 * how.pairs) + (pair < 0 ? column : how.own + 2 * pair);
        key_value = line * (how.own + how.values) + column;
        value = line * how.values + column - how.own;
        angle = (how.first_position + row % how.rows) * how.pairs + pair;
        shared = (row + 1) * how.shared_columns - 2 * how.pairs + 2 * pair;
    }
};

__device__ Pair pair_at(const Operand& x, std::int64_t i) {
    return {load(x, i), load(x, i + 1)};
}
__device__ void store_pair_at(const Result& y, std::int64_t i, const Pair& pair) {
    store(y, i, pair.low);
    store(y, i + 1, pair.high);
}

__global__ void latent_heads_kernel(LatentShape how, const float* cosines, const float* sines,
                                    Operand queries, Operand keys_values, Operand shared, Result q,
                                    Result k, Result v) {
    const LatentPlace at(how);
    switch (at.part) {
        case LatentPlace::Part::None: return;
        case LatentPlace::Part::Own:
            store(q, at.key, load(queries, at.key));
            store(k, at.key, load(keys_values, at.key_value));
            return;
        case LatentPlace::Part::Value: store(v, at.value, load(keys_values, at.key_value)); return;
        case LatentPlace::Part::Rotated: break;
    }
    const float cosine = cosines[at.angle], sine = sines[at.angle];
    store_pair_at(q, at.key, turned(pair_at(queries, at.key), cosine, sine));
    store_pair_at(k, at.key, turned(pair_at(shared, at.shared), cosine, sine));
}

__global__ void latent_heads_backward_kernel(LatentShape how, const float* cosines,
                                             const float* sines, Operand dq, Operand dk, Operand dv,
                                             Result dqueries, Result dkeys_values) {
    const LatentPlace at(how);
    switch (at.part) {
        case LatentPlace::Part::None: return;
        case LatentPlace::Part::Own:
            store(dqueries, at.key, load(dq, at.key));
            store(dkeys_values, at.key_value, load(dk, at.key));
            return;
        case LatentPlace::Part::Value:
            store(dkeys_values, at.key_value, load(dv, at.value));
            return;
        case LatentPlace::Part::Rotated: break;
    }
    const Pair query = turned(pair_at(dq, at.key), cosines[at.angle], -sines[at.angle]);
    store_pair_at(dqueries, at.key, query);
}

/// A thread adds up a rotated pair over the heads of a row.
__global__ void latent_shared_kernel(LatentShape how, const float* cosines, const float* sines,
                                     Operand dk, Result dshared) {
    const std::int64_t index = block_index() * thread_count() + thread_index();
    const std::int64_t row = index / how.pairs, pair = index % how.pairs;
    if (row >= how.samples * how.rows) return;
    const std::int64_t width = how.own + 2 * how.pairs;
    Pair sum{0, 0};
    for (std::int64_t head = 0; head < how.heads; ++head) {
        const std::int64_t from = (row * how.heads + head) * width + how.own + 2 * pair;
        sum.low += load(dk, from);
        sum.high += load(dk, from + 1);
    }
    const std::int64_t angle = (how.first_position + row % how.rows) * how.pairs + pair;
    const Pair back = turned(sum, cosines[angle], -sines[angle]);
    const std::int64_t to = (row + 1) * how.shared_columns - 2 * how.pairs + 2 * pair;
    store(dshared, to, back.low);
    store(dshared, to + 1, back.high);
}

Geometry over_threads(std::int64_t threads) {
    return {ceil_div(threads, kThreads), kThreads, 0};
}
std::int64_t threads_of(const LatentShape& how) {
    return how.samples * how.rows * how.heads * (how.own + how.values + how.pairs);
}

}  // namespace

void rotate(Stream stream, const Rotation& how, const float* cosines, const float* sines,
            Result x) {
    const std::int64_t pairs = how.samples * how.rows * how.turned * how.pairs;
    launch("rotate", rotate_kernel, over_elements(pairs), stream, how, cosines, sines, x);
}

void head_norm_forward(Stream stream, const NormedHeads& how, float eps, Operand gain, Result x,
                       Result kept, float* statistics) {
    launch("head_norm_forward", head_norm_forward_kernel, over_heads(how), stream, how, eps, gain,
           x, kept, statistics);
}

void head_norm_backward_weight(Stream stream, const NormedHeads& how, Operand kept,
                               const float* statistics, Operand dy, float* partials, Result dgain) {
    const std::int64_t rows = how.tokens * how.heads, chunks = chunks_of(rows);
    if (rows == 0) return;
    launch("head_norm_backward_weight (chunks)", head_norm_chunks_kernel,
           over_threads(chunks * how.head_dim), stream, how, kept, statistics, dy, partials);
    launch("head_norm_backward_weight", head_norm_gain_kernel, over_threads(how.head_dim), stream,
           chunks, how.head_dim, static_cast<const float*>(partials), dgain);
}

void head_norm_backward_input(Stream stream, const NormedHeads& how, Operand gain, Operand kept,
                              const float* statistics, Result dx) {
    launch("head_norm_backward_input", head_norm_backward_input_kernel, over_heads(how), stream,
           how, gain, kept, statistics, dx);
}

void width_norm_sums(Stream stream, const NormedHeads& how, Operand x, float* sums) {
    launch("width_norm_sums", width_norm_sums_kernel, over_heads(how), stream, how, x, sums);
}

void width_norm_forward(Stream stream, const NormedHeads& how, float eps, std::int64_t columns,
                        Operand gain, const float* sums, Result x, Result kept, float* statistics) {
    launch("width_norm_forward", width_norm_forward_kernel, over_heads(how), stream, how, eps,
           columns, gain, sums, x, kept, statistics);
}

void width_norm_gradient_sums(Stream stream, const NormedHeads& how, Operand gain, Operand kept,
                              Operand dy, float* sums) {
    launch("width_norm_gradient_sums", width_norm_gradient_sums_kernel, over_heads(how), stream,
           how, gain, kept, dy, sums);
}

void width_norm_backward_input(Stream stream, const NormedHeads& how, std::int64_t columns,
                               Operand gain, Operand kept, const float* statistics,
                               const float* sums, Result dx) {
    launch("width_norm_backward_input", width_norm_backward_kernel, over_heads(how), stream, how,
           columns, gain, kept, statistics, sums, dx);
}

void grow_queries(Stream stream, const Growth& how, Result x) {
    launch("grow_queries", grow_kernel,
           over_elements(how.samples * how.rows * how.grown * how.head_dim), stream, how, x);
}

void latent_heads_forward(Stream stream, const LatentShape& how, const float* cosines,
                          const float* sines, Operand queries, Operand keys_values, Operand shared,
                          Result q, Result k, Result v) {
    launch("latent_heads_forward", latent_heads_kernel, over_threads(threads_of(how)), stream, how,
           cosines, sines, queries, keys_values, shared, q, k, v);
}

void latent_heads_backward_input(Stream stream, const LatentShape& how, const float* cosines,
                                 const float* sines, Operand dq, Operand dk, Operand dv,
                                 Result dqueries, Result dkeys_values, Result dshared) {
    launch("latent_heads_backward_input", latent_heads_backward_kernel,
           over_threads(threads_of(how)), stream, how, cosines, sines, dq, dk, dv, dqueries,
           dkeys_values);
    launch("latent_heads_backward_input (shared)", latent_shared_kernel,
           over_threads(how.samples * how.rows * how.pairs), stream, how, cosines, sines, dk,
           dshared);
}

}  // namespace debubble::exec::cuda
