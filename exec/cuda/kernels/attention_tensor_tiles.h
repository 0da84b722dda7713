#pragma once

#include "exec/cuda/kernels/attention_tiles.h"

/// The common parts of the kernels of attention on tensor cores: tiles of 16-bit elements in shared
/// memory, and the fragments that a lane takes of them. Only .cu files include this.
///
/// A warp owns kStrips strips of 16 rows; the results of a strip are its lanes' float[4] of
/// tensor_product(), one for every eight columns.
namespace debubble::exec::cuda {

using Half = std::uint16_t;

inline constexpr int kStripRows = 16;
constexpr int strips_of(int block_rows) {
    return block_rows / (kTensorThreads / kWarp * kStripRows);
}

/// The place of a lane in the fragments of tensor_product() and among those of load_matrices().
struct Lane {
    int warp = thread_index() / kWarp;
    int group = thread_index() % kWarp / 4;
    int pair = thread_index() % 4 * 2;
    int matrix = thread_index() % kWarp / 8;
    int matrix_row = thread_index() % 8;

    /// The row of a lane's i-th result, in a strip that starts at row `first`.
    __device__ int row(int first, int i) const { return first + group + i / 2 * 8; }
    /// The column of a lane's i-th result, among eight columns from `first` on.
    __device__ int column(int first, int i) const { return first + pair + i % 2; }
};

template <Type kType>
__device__ unsigned packed(float low, float high) {
    return kType == Type::Bf16 ? to_bf16_pair(low, high) : to_fp16_pair(low, high);
}

/// A lane's part of the left factor [16, 16] of a product.
struct Left {
    unsigned at[4];
};
/// A lane's part of two right factors [16, 8]: of eight columns, and of the next eight.
struct RightPair {
    unsigned first[2], second[2];
};

/// Two neighbouring results [16, 8], rounded: 16 columns of the left factor of the next product.
template <Type kType>
__device__ Left left_of(const float (&d)[4], const float (&next)[4]) {
    return {{packed<kType>(d[0], d[1]), packed<kType>(d[2], d[3]), packed<kType>(next[0], next[1]),
             packed<kType>(next[2], next[3])}};
}

template <Type kType>
__device__ void add_products(float (&d)[4], float (&next)[4], const Left& left,
                             const RightPair& right) {
    tensor_product<kType>(d, left.at, right.first);
    tensor_product<kType>(next, left.at, right.second);
}

/// One head of one sample of an operand [samples, rows, heads, width], like HeadRows. Rows, and
/// elements from one to the next, are counted in 32 bits.
struct HeadIn {
    const Half* data;  ///< address of the head in row 0 of the first sample
    int stride, first_row, rows, width;

    __device__ HeadIn(const Operand& x, std::int64_t sample, std::int64_t head,
                      std::int64_t all_rows, std::int64_t row_stride, std::int64_t head_dim)
        : data(static_cast<const Half*>(x.data) + head * head_dim),
          stride(static_cast<int>(row_stride)),
          first_row(static_cast<int>(sample * all_rows)),
          rows(static_cast<int>(all_rows)),
          width(static_cast<int>(head_dim)) {}
    __device__ const Half* row(int row) const {
        return data + std::int64_t{stride} * (first_row + row);
    }
};

/// Rows of a head in shared memory, filled up with zeros to kHead columns.
template <int kHead>
class Tile {
public:
    static constexpr int kStride = half_stride(kHead);

    __device__ explicit Tile(Half* rows) : rows_(rows) {}
    /// The address of the next tile, after this many rows of this one.
    __device__ Half* after(int rows) const { return rows_ + rows * kStride; }

    /// Asks for kRows rows from `first` on; elements beyond the head's rows or columns are zero.
    template <int kRows>
    __device__ void fetch(const HeadIn& x, int first) const {
        constexpr int kRuns = kHead / 8;  // runs of eight elements
        static_assert(kRows * kRuns % kTensorThreads == 0, "every thread has as many");
        if constexpr (kTensorThreads % kRuns != 0) {  // a thread's runs lie in several columns
            DEBUBBLE_UNROLL
            for (int i = 0; i < kRows * kRuns; i += kTensorThreads) {
                const int row = (i + thread_index()) / kRuns;
                const int column = (i + thread_index()) % kRuns * 8;
                copy_later<16>(rows_ + row * kStride + column, x.row(first + row) + column,
                               column < x.width && first + row < x.rows);
            }
            return;
        }
        const int column = thread_index() % kRuns * 8, begin = thread_index() / kRuns;
        const int rows = column < x.width ? x.rows - first - begin : 0;
        const Half* const from = x.row(first + begin) + column;
        DEBUBBLE_UNROLL
        for (int row = 0; row < kRows; row += kTensorThreads / kRuns) {
            const bool there = row < rows;  // otherwise nothing is read
            copy_later<16>(rows_ + (begin + row) * kStride + column,
                           from + std::int64_t{x.stride} * row, there);
        }
    }

    /// Rows `row` .. row + 15, columns `column` .. column + 15.
    __device__ Left left(int row, int column, const Lane& lane) const {
        Left factor;
        load_matrices<false>(
            factor.at, rows_ + (row + lane.matrix % 2 * 8 + lane.matrix_row) * kStride + column +
                           lane.matrix / 2 * 8);
        return factor;
    }
    /// The transpose of rows `row` .. row + 15, columns `column` .. column + 15.
    __device__ RightPair rows_as_columns(int row, int column, const Lane& lane) const {
        unsigned pairs[4];
        load_matrices<false>(pairs, rows_ +
                                        (row + lane.matrix / 2 * 8 + lane.matrix_row) * kStride +
                                        column + lane.matrix % 2 * 8);
        return {{pairs[0], pairs[1]}, {pairs[2], pairs[3]}};
    }
    /// The same rows and columns, not transposed.
    __device__ RightPair columns(int row, int column, const Lane& lane) const {
        unsigned pairs[4];
        load_matrices<true>(pairs, rows_ + (row + lane.matrix % 2 * 8 + lane.matrix_row) * kStride +
                                       column + lane.matrix / 2 * 8);
        return {{pairs[0], pairs[1]}, {pairs[2], pairs[3]}};
    }

private:
    Half* rows_;
};

/// The left factors of a warp's own rows, read again at each use; starts with the warp's first row
/// in the tile.
template <int kHead>
struct LeftInShared {
    Tile<kHead> tile;
    int first_row;
    __device__ Left at(int strip, int column, const Lane& lane) const {
        return tile.left(first_row + strip * kStripRows, column, lane);
    }
};
/// The same, kept in registers once they are loaded.
template <int kHead, int kStrips>
struct LeftInRegisters {
    Left factors[kStrips][kHead / 16];
    __device__ LeftInRegisters(const LeftInShared<kHead>& from, const Lane& lane) {
        DEBUBBLE_UNROLL
        for (int m = 0; m < kStrips; ++m) {
            DEBUBBLE_UNROLL
            for (int d = 0; d < kHead; d += 16) factors[m][d / 16] = from.at(m, d, lane);
        }
    }
    __device__ Left at(int strip, int column, const Lane&) const {
        return factors[strip][column / 16];
    }
};

/// sums [rows, 8 kCount] = the warp's rows times the transpose of a tile's first 8 kCount rows:
/// scores, or the gradients from above.
template <Type kType, int kHead, int kStrips, int kCount, class LeftFactors>
__device__ void products_over_head(float (&sums)[kStrips][kCount][4], const LeftFactors& left,
                                   const Tile<kHead>& right, const Lane& lane) {
    DEBUBBLE_UNROLL
    for (int m = 0; m < kStrips; ++m) {
        DEBUBBLE_UNROLL
        for (int n = 0; n < kCount; ++n) {
            DEBUBBLE_UNROLL
            for (int i = 0; i < 4; ++i) sums[m][n][i] = 0;
        }
    }
    DEBUBBLE_UNROLL
    for (int d = 0; d < kHead; d += 16) {
        Left factors[kStrips];
        DEBUBBLE_UNROLL
        for (int m = 0; m < kStrips; ++m) factors[m] = left.at(m, d, lane);
        DEBUBBLE_UNROLL
        for (int n = 0; n < kCount; n += 2) {
            const RightPair columns = right.rows_as_columns(n * 8, d, lane);
            DEBUBBLE_UNROLL
            for (int m = 0; m < kStrips; ++m)
                add_products<kType>(sums[m][n], sums[m][n + 1], factors[m], columns);
        }
    }
}

/// sums [rows, kHead] += weights [rows, 8 kCount], rounded, times a tile's first 8 kCount rows.
template <Type kType, int kHead, int kStrips, int kCount>
__device__ void add_weighted_rows(float (&sums)[kStrips][kHead / 8][4],
                                  const float (&weights)[kStrips][kCount][4],
                                  const Tile<kHead>& rows, const Lane& lane) {
    DEBUBBLE_UNROLL
    for (int n = 0; n < kCount; n += 2) {
        Left factors[kStrips];
        DEBUBBLE_UNROLL
        for (int m = 0; m < kStrips; ++m)
            factors[m] = left_of<kType>(weights[m][n], weights[m][n + 1]);
        DEBUBBLE_UNROLL
        for (int d = 0; d < kHead / 8; d += 2) {
            const RightPair columns = rows.columns(n * 8, d * 8, lane);
            DEBUBBLE_UNROLL
            for (int m = 0; m < kStrips; ++m)
                add_products<kType>(sums[m][d], sums[m][d + 1], factors[m], columns);
        }
    }
}

/// Calls write(m, i, to, width) for every existing row, for the lane's pairs sums[m][n][i] and [i +
/// 1] at element to + 8 n, with n 8 < width.
template <int kStrips, class Write>
__device__ void for_each_row(int first_row, const HeadRows& rows, std::int64_t head_dim,
                             const Lane& lane, const Write& write) {
    const int width = static_cast<int>(head_dim) - lane.pair;
    DEBUBBLE_UNROLL
    for (int m = 0; m < kStrips; ++m) {
        DEBUBBLE_UNROLL
        for (int i = 0; i < 4; i += 2) {
            const int row = lane.row(first_row + m * kStripRows, i);
            if (row < rows.count) write(m, i, rows.first + row * rows.stride + lane.pair, width);
        }
    }
}
/// Writes the pairs of such a row, times a factor, as elements of kType.
template <Type kType, int kParts>
__device__ void store_pairs(const Result& y, std::int64_t to, int width, int i, float factor,
                            const float (&sums)[kParts][4]) {
    unsigned* const words = reinterpret_cast<unsigned*>(static_cast<Half*>(y.data) + to);
    DEBUBBLE_UNROLL
    for (int n = 0; n < kParts; ++n)
        if (n * 8 < width)
            words[n * 4] = packed<kType>(sums[n][i] * factor, sums[n][i + 1] * factor);
}
/// The same for a type that is known when the kernel runs, or for adding to the content: everything
/// is read before anything is written.
template <int kParts>
__device__ void put_pairs(const Result& y, std::int64_t to, int width, bool adds, int i,
                          float factor, const float (&sums)[kParts][4]) {
    Pair before[kParts];
    DEBUBBLE_UNROLL
    for (int n = 0; n < kParts; ++n)
        before[n] = adds && n * 8 < width ? load_pair(y, to + n * 8) : Pair{0.F, 0.F};
    DEBUBBLE_UNROLL
    for (int n = 0; n < kParts; ++n)
        if (n * 8 < width)
            store_pair(y, to + n * 8, before[n].low + sums[n][i] * factor,
                       before[n].high + sums[n][i + 1] * factor);
}

}  // namespace debubble::exec::cuda
