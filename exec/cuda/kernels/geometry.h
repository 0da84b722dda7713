#pragma once

#include <algorithm>
#include <cstdint>

/// The numbers of blocks and threads with which kernels are launched: plain arithmetic, tested
/// without a GPU.
namespace debubble::exec::cuda {

/// A grid and its blocks have one dimension each; kernels compute their indices from it.
struct Geometry {
    std::int64_t blocks = 0;        ///< 0: there is no work, and nothing is launched
    int threads = 0;                ///< threads of a block, a multiple of a warp's 32
    std::int64_t shared_bytes = 0;  ///< shared memory of a block

    friend bool operator==(const Geometry&, const Geometry&) = default;
};

// Limits of compute capability 8.0 and above (CUDA programming guide, table of technical
// specifications).
inline constexpr std::int64_t kMaxBlocks = 2147483647;
inline constexpr int kMaxThreads = 1024;
inline constexpr std::int64_t kMaxSharedBytes = 99 * 1024;  ///< of 8.6 and 8.9; others have more
inline constexpr int kWarp = 32;

inline constexpr int kThreads = 256;     ///< threads of most blocks
inline constexpr int kElementsEach = 8;  ///< 16 bytes of a 16-bit type

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// A thread takes eight contiguous elements.
constexpr Geometry over_elements(std::int64_t elements) {
    return {ceil_div(elements, std::int64_t{kThreads} * kElementsEach), kThreads, 0};
}

/// A block takes a row, with a slot for each warp's part of a sum.
constexpr Geometry over_rows(std::int64_t rows) {
    return {rows, kThreads, kWarp * 8};
}

/// A norm's row stays in the registers of its block: a thread has one run of eight elements of it,
/// or two or four. The widest rows are read again instead.
inline constexpr int kNormThreads = 512;  ///< at most: with 128 registers each
constexpr Geometry over_norm_rows(std::int64_t rows, std::int64_t hidden) {
    const std::int64_t warps = ceil_div(hidden, std::int64_t{kWarp} * kElementsEach);
    return {rows,
            static_cast<int>(std::clamp<std::int64_t>(warps, 1, kNormThreads / kWarp)) * kWarp,
            kWarp * 8};
}
/// The runs of a thread; 0: more than the registers have room for.
constexpr int runs_of_norm(std::int64_t hidden) {
    const std::int64_t runs = ceil_div(hidden, std::int64_t{kNormThreads} * kElementsEach);
    return runs <= 1 ? 1 : runs <= 2 ? 2 : runs <= 4 ? 4 : 0;
}

/// A warp takes a token.
constexpr Geometry over_tokens(std::int64_t tokens) {
    return {ceil_div(tokens, kThreads / kWarp), kThreads, 0};
}
/// A block takes an expert, with a slot for each warp's count.
constexpr Geometry over_experts(std::int64_t experts) {
    return {experts, kThreads, kThreads / kWarp * 4};
}

/// Sums over rows: chunks of rows are summed in parallel, then added in their order. The number of
/// chunks, and so the order of the sum, depends only on the number of rows.
constexpr std::int64_t chunks_of(std::int64_t rows) {
    return std::clamp<std::int64_t>(ceil_div(rows, 32), 1, 512);
}
constexpr std::int64_t first_of_chunk(std::int64_t chunk, std::int64_t chunks, std::int64_t rows) {
    return rows * chunk / chunks;
}
/// A thread takes eight columns of a chunk; the threads of a chunk are neighbours.
constexpr Geometry over_column_chunks(std::int64_t rows, std::int64_t columns) {
    const std::int64_t threads = chunks_of(rows) * ceil_div(columns, std::int64_t{kElementsEach});
    return {rows == 0 ? 0 : ceil_div(threads, kThreads), kThreads, 0};
}
/// A block takes a warp's width of columns; each of its warps adds up a part of the chunks.
constexpr Geometry over_columns(std::int64_t columns) {
    return {ceil_div(columns, kWarp), kThreads, kThreads * 4};
}

/// A sum over many elements: at most this many blocks make partial sums, then one block adds them.
constexpr std::int64_t kMaxPartials = 1024;
constexpr Geometry over_partials(std::int64_t elements) {
    return {std::min(kMaxPartials, ceil_div(elements, kThreads)), kThreads, kWarp * 8};
}

/// A block takes the vocabulary entries of one remainder and some columns, a warp's width.
inline constexpr int kEmbeddingShares = 64;
constexpr Geometry over_embedding(std::int64_t columns) {
    return {kEmbeddingShares * ceil_div(columns, kWarp), kWarp, 0};
}

// Attention: a block takes 64 queries of a head and visits 32 keys at a time, or the other way
// round.
inline constexpr int kAttentionThreads = 256;
inline constexpr int kTileRows = 64;
inline constexpr int kTileColumns = 32;
inline constexpr int kMaxHeadDim = 128;

/// The widths to which heads of queries and keys, and of values, are padded in shared memory. Those
/// of latent attention are wider than their values.
struct HeadWidths {
    int keys, values;
};
inline constexpr HeadWidths kNarrowHeads{64, 64}, kWideHeads{128, 128}, kLatentHeads{192, 128};
constexpr HeadWidths widths_of(std::int64_t head_dim, std::int64_t value_dim) {
    if (head_dim <= kNarrowHeads.keys && value_dim <= kNarrowHeads.values) return kNarrowHeads;
    return head_dim <= kWideHeads.keys ? kWideHeads : kLatentHeads;
}
constexpr bool has_widths_for(std::int64_t head_dim, std::int64_t value_dim) {
    return head_dim <= kLatentHeads.keys && value_dim <= kLatentHeads.values;
}
/// Rows of shared memory are one element longer than their content, so that columns fall into
/// different banks.
constexpr int tile_stride(int columns) {
    return columns + 1;
}
/// Shared memory holds q, then k and v, then the scores.
constexpr Geometry over_queries(std::int64_t heads, std::int64_t queries, HeadWidths widths) {
    const std::int64_t floats = (kTileRows + kTileColumns) * tile_stride(widths.keys) +
                                kTileColumns * tile_stride(widths.values) +
                                kTileRows * tile_stride(kTileColumns);
    return {heads * ceil_div(queries, kTileRows), kAttentionThreads, floats * 4};
}
/// Shared memory of the backward holds q and dout, k and v, scores and their gradients.
constexpr Geometry over_queries_backward(std::int64_t heads, std::int64_t queries,
                                         HeadWidths widths) {
    const std::int64_t floats =
        2 * kTileColumns * (tile_stride(widths.keys) + tile_stride(widths.values)) +
        2 * kTileColumns * tile_stride(kTileColumns);
    return {heads * ceil_div(queries, kTileColumns), kAttentionThreads, floats * 4};
}
constexpr Geometry over_keys_backward(std::int64_t kv_heads, std::int64_t keys, HeadWidths widths) {
    return over_queries_backward(kv_heads, keys, widths);
}

// Attention on tensor cores: four warps, each with 16 or 32 neighbouring rows, visit tiles of 64 or
// 32. With more rows, a tile that is read once from shared memory serves more products; with heads
// of 128 the gradients of 32 rows would leave no registers. Rows of shared memory are 16 bytes
// longer than their content, so that eight of them start in different banks.
inline constexpr int kTensorThreads = 128;
inline constexpr int kForwardQueries = 128;
inline constexpr int kBackwardTile = 32;
constexpr int forward_keys(int padded_head) {
    return padded_head == 64 ? 64 : 32;
}
constexpr int backward_rows(int padded_head) {
    return padded_head == 64 ? 128 : 64;
}
constexpr int half_stride(int columns) {
    return columns + 8;
}
/// Shared memory holds q, k and v.
constexpr Geometry over_queries_tensor(std::int64_t heads, std::int64_t queries,
                                       HeadWidths widths) {
    const std::int64_t keys = forward_keys(widths.keys);
    const std::int64_t halves =
        (kForwardQueries + keys) * half_stride(widths.keys) + keys * half_stride(widths.values);
    return {heads * ceil_div(queries, kForwardQueries), kTensorThreads, halves * 2};
}
/// Shared memory holds two operands of the block's own rows, two of the tile that it visits and of
/// the next one, and two sums for each row of those.
constexpr Geometry over_rows_tensor_backward(std::int64_t heads, std::int64_t rows,
                                             HeadWidths widths) {
    const int own = backward_rows(widths.keys);
    const std::int64_t halves = std::int64_t{own + 2 * kBackwardTile} *
                                (half_stride(widths.keys) + half_stride(widths.values));
    return {heads * ceil_div(rows, own), kTensorThreads, halves * 2 + 4 * kBackwardTile * 4};
}

}  // namespace debubble::exec::cuda
