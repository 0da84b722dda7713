#pragma once

#include "exec/cuda/kernels/attention.h"
#include "exec/cuda/kernels/load.h"
#include "exec/cuda/kernels/philox.h"

/// The common parts of the kernels of attention. Only .cu files include this.
///
/// 256 threads form a square of 16 x 16: a thread has some neighbouring rows of a tile, and every
/// sixteenth column of them, so that the threads of a row are half a warp.
namespace debubble::exec::cuda {

inline constexpr int kAcross = 16;

__device__ inline int thread_row() {
    return thread_index() / kAcross;
}
__device__ inline int thread_column() {
    return thread_index() % kAcross;
}

/// The rows of one head of one sample within [samples, rows, heads, head_dim]; each starts `stride`
/// elements after the one before.
struct HeadRows {
    std::int64_t first = 0;  ///< element of row 0
    std::int64_t stride = 0;
    std::int64_t count = 0;

    __device__ HeadRows(std::int64_t sample, std::int64_t head, std::int64_t rows,
                        std::int64_t row_stride, std::int64_t head_dim)
        : first(sample * rows * row_stride + head * head_dim), stride(row_stride), count(rows) {}
};

/// Fills tile [kRows][kHead] with the rows from `row` on; elements beyond them or the head are
/// zero.
template <int kRows, int kHead>
__device__ void load_tile(float* tile, const Operand& x, const HeadRows& rows, std::int64_t row,
                          std::int64_t head_dim) {
    for (int i = thread_index(); i < kRows * kHead; i += kAttentionThreads) {
        const int r = i / kHead, d = i % kHead;
        const bool there = row + r < rows.count && d < head_dim;
        tile[r * tile_stride(kHead) + d] =
            there ? load(x, rows.first + (row + r) * rows.stride + d) : 0.F;
    }
}

/// The product a . b of two rows of tiles.
template <int kHead>
__device__ float dot(const float* a, const float* b) {
    float sum = 0;
    DEBUBBLE_UNROLL_SOME
    for (int d = 0; d < kHead; ++d) sum += a[d] * b[d];
    return sum;
}

/// The keys that queries see, as in AttentionShape; in 32 bits where registers are scarce.
template <class Integer>
struct Sight {
    Integer queries, keys, first_query, window, chunk;
    bool causal;

    __device__ explicit Sight(const AttentionShape& shape)
        : queries(static_cast<Integer>(shape.queries)),
          keys(static_cast<Integer>(shape.keys)),
          first_query(static_cast<Integer>(shape.first_query)),
          window(static_cast<Integer>(shape.window)),
          chunk(static_cast<Integer>(shape.chunk)),
          causal(shape.causal) {}

    /// Whether the query at this row sees the key; false if either does not exist.
    __device__ bool sees(Integer query, Integer key) const {
        return query < queries && key < keys &&
               (!causal || (key <= first_query + query && key >= first_of(query)));
    }
    /// The first key that a query sees, or a number below 0.
    __device__ Integer first_of(Integer query) const {
        const Integer position = first_query + query, in_window = position - window + 1;
        if (chunk == 0) return in_window;
        const Integer in_chunk = position / chunk * chunk;
        return in_window > in_chunk ? in_window : in_chunk;
    }
    /// A multiple of `step` at or before the first key that some query from `query` on sees.
    __device__ Integer first_seen(Integer query, int step) const {
        const Integer first = first_of(query);
        return first > 0 ? first / step * step : 0;
    }
    /// The number of queries that come before or at the last that sees some key before `key_end`.
    __device__ Integer queries_until(Integer key_end) const {
        const Integer key = key_end - 1;
        Integer end = key + window;
        if (chunk > 0 && (key / chunk + 1) * chunk < end) end = (key / chunk + 1) * chunk;
        end -= first_query;
        return !causal || end > queries ? queries : end;
    }
    /// The number of keys that some query before `end` sees.
    __device__ Integer seen_before(Integer end) const {
        const Integer seen = first_query + (end < queries ? end : queries);
        return causal && seen < keys ? seen : keys;
    }
    /// Whether some of `count` queries from `query` on, if it exists, sees one of `key_count` keys
    /// from `key` on.
    __device__ bool some_see(Integer query, int count, Integer key, int key_count) const {
        return query < queries && key < seen_before(query + count) &&
               key + key_count > first_of(query);
    }
    /// Whether `count` queries and `key_count` keys exist and every one of the queries sees every
    /// key.
    __device__ bool all_see(Integer query, int count, Integer key, int key_count) const {
        return query + count <= queries && key + key_count <= keys &&
               (!causal ||
                (key + key_count - 1 <= first_query + query && key >= first_of(query + count - 1)));
    }
    /// The number of keys from `key` on that a query sees.
    __device__ Integer seen_from(Integer query, Integer key) const {
        return seen_before(query + 1) - key;
    }
    /// The number of queries from `query` on that do not see a key.
    __device__ Integer blind_from(Integer query, Integer key) const {
        return causal ? key - first_query - query : 0;
    }
};

/// A scaled score, capped, and the slope of the cap.
struct Capped {
    float score, slope;

    __device__ Capped(const AttentionShape& shape, float scaled) : score(scaled), slope(1.F) {
        if (shape.soft_cap == 0.F) return;
        const float t = tanhf(scaled / shape.soft_cap);
        score = t * shape.soft_cap;
        slope = 1.F - t * t;
    }
};

/// The numbers by which a head's scores are lowered, one for each place between query and key.
struct Lowering {
    float slope = 0;
    std::int64_t first_query = 0;

    __device__ Lowering(const AttentionShape& shape, std::int64_t head)
        : first_query(shape.first_query) {
        if (shape.alibi_heads == 0) return;
        std::int64_t power = 1;
        while (power < shape.alibi_heads) power *= 2;
        const std::int64_t at = shape.alibi_first + head, half = power / 2;
        const std::int64_t number = power == shape.alibi_heads ? at + 1
                                    : at < half                ? 2 * at + 2
                                                               : 2 * (at - half) + 1;
        slope = exp2f(-8.F * static_cast<float>(number) / static_cast<float>(power));
    }
    __device__ float of(std::int64_t query, std::int64_t key) const {
        return slope * static_cast<float>(first_query + query - key);
    }
};

/// The factors of probabilities, 0 where one is dropped: a random number decides for every score of
/// the whole network's [samples, heads, positions, positions], four of them at once.
struct DropoutFactors {
    float scale;
    std::uint32_t threshold;

    __device__ explicit DropoutFactors(const DroppedScores& how)
        : scale(how.scale), threshold(how.threshold) {}
    __device__ static std::uint64_t element(const AttentionShape& shape, std::int64_t sample,
                                            std::int64_t head, std::int64_t query,
                                            std::int64_t key) {
        const DroppedScores& how = shape.dropped;
        const std::int64_t line =
            (how.first_sample + sample) * how.all_heads + how.first_head + head;
        return static_cast<std::uint64_t>(
            (line * how.all_positions + shape.first_query + query) * how.all_positions + key);
    }
    __device__ float of(const PhiloxWords& words, unsigned which) const {
        const std::uint32_t low = which % 2 == 0 ? words.at[0] : words.at[1];
        const std::uint32_t high = which % 2 == 0 ? words.at[2] : words.at[3];
        return (which < 2 ? low : high) < threshold ? 0.F : scale;
    }
};
__device__ inline float dropout_factor(const AttentionShape& shape, std::int64_t sample,
                                       std::int64_t head, std::int64_t query, std::int64_t key) {
    const DroppedScores& how = shape.dropped;
    if (how.scale == 0.F) return 1.F;
    const std::uint64_t element = DropoutFactors::element(shape, sample, head, query, key);
    return DropoutFactors(how).of(philox(how.seed, how.stream, element / 4), element % 4);
}
/// The factors of two neighbouring keys, which mostly share their random numbers.
struct DropoutPair {
    float first, second;

    __device__ DropoutPair(const AttentionShape& shape, std::int64_t sample, std::int64_t head,
                           std::int64_t query, std::int64_t key) {
        const DroppedScores& how = shape.dropped;
        const DropoutFactors kept(how);
        const std::uint64_t element = DropoutFactors::element(shape, sample, head, query, key);
        PhiloxWords words = philox(how.seed, how.stream, element / 4);
        first = kept.of(words, element % 4);
        if (element % 4 == 3) words = philox(how.seed, how.stream, element / 4 + 1);
        second = kept.of(words, (element + 1) % 4);
    }
};

/// The rows with the most work under a causal mask: the last queries see the most keys, the first
/// keys are seen by the most queries.
enum class Longest { FirstRows, LastRows };

/// The head and tile of a block. Blocks start in their order: those with most work first, so that
/// the last to end are short, and of as many heads at once as the second-level cache holds keys of.
/// Divisions are in 32 bits, like the numbers of blocks and of rows.
struct BlockPlace {
    static constexpr unsigned kHeadsAtOnce = 64;
    std::int64_t sample, head, row;

    __device__ BlockPlace(std::int64_t all_heads, std::int64_t rows, int tile_rows,
                          Longest longest) {
        const auto heads = static_cast<unsigned>(all_heads);
        const auto block = static_cast<unsigned>(block_index());
        const unsigned tiles = (static_cast<unsigned>(rows) + tile_rows - 1) / tile_rows;
        const unsigned lines = static_cast<unsigned>(block_count()) / tiles;
        const unsigned first = block / (kHeadsAtOnce * tiles) * kHeadsAtOnce;
        const unsigned width = lines - first < kHeadsAtOnce ? lines - first : kHeadsAtOnce;
        const unsigned rest = block - first * tiles;
        const unsigned step = rest / width, line = first + rest % width;
        row = std::int64_t{longest == Longest::FirstRows ? step : tiles - 1 - step} * tile_rows;
        head = line % heads;
        sample = line / heads;
    }
};

}  // namespace debubble::exec::cuda
