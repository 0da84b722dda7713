#pragma once

#include "exec/cuda/kernels/attention_tiles.h"

/// What the kernels of attention on tensor cores share: tiles of 16-bit elements in shared memory,
/// and the fragments that a lane takes of them. Only .cu files include this.
namespace debubble::exec::cuda {

using Half = std::uint16_t;

/// Where a lane stands in the fragments of tensor_product().
struct Lane {
    int warp = thread_index() / kWarp;
    int group = thread_index() % kWarp / 4;
    int pair = thread_index() % 4 * 2;
};

__device__ inline unsigned pair_at(const Half* element) {
    return *reinterpret_cast<const unsigned*>(element);
}
template <Type kType>
__device__ unsigned packed(float low, float high) {
    const Half a = kType == Type::Bf16 ? to_bf16(low) : to_fp16(low);
    const Half b = kType == Type::Bf16 ? to_bf16(high) : to_fp16(high);
    return a | static_cast<unsigned>(b) << 16;
}

/// Rows `first` .. first + 15 of a tile, columns `column` .. column + 15, as the left factor.
struct Left {
    unsigned at[4];
    __device__ Left(const Half* tile, int stride, int first, int column, const Lane& lane) {
        const Half* const low = tile + (first + lane.group) * stride + column + lane.pair;
        at[0] = pair_at(low);
        at[1] = pair_at(low + 8 * stride);
        at[2] = pair_at(low + 8);
        at[3] = pair_at(low + 8 * stride + 8);
    }
    /// Two neighbouring results [16, 8], rounded: 16 columns of the left factor of what follows.
    template <Type kType>
    __device__ static Left of(const float (&d)[4], const float (&next)[4]) {
        Left left;
        left.at[0] = packed<kType>(d[0], d[1]);
        left.at[1] = packed<kType>(d[2], d[3]);
        left.at[2] = packed<kType>(next[0], next[1]);
        left.at[3] = packed<kType>(next[2], next[3]);
        return left;
    }

private:
    __device__ Left() {}
};

/// d += left times the transpose of eight rows of a tile, from `first` and `column` on.
template <Type kType>
__device__ void add_product(float (&d)[4], const Left& left, const Half* tile, int stride,
                            int first, int column, const Lane& lane) {
    const Half* const low = tile + (first + lane.group) * stride + column + lane.pair;
    const unsigned right[2] = {pair_at(low), pair_at(low + 8)};
    tensor_product<kType>(d, left.at, right);
}

/// sums [16, 8 kCount] += 16 rows of a tile from `first` on times the transpose of another tile,
/// over the width of a head: scores, or what reaches them from above.
template <Type kType, int kHead, int kCount>
__device__ void add_products_over_head(float (&sums)[kCount][4], const Half* left, int first,
                                       const Half* right, const Lane& lane) {
    constexpr int kStride = half_stride(kHead);
    DEBUBBLE_UNROLL
    for (int d = 0; d < kHead; d += 16) {
        const Left factor(left, kStride, first, d, lane);
        DEBUBBLE_UNROLL
        for (int n = 0; n < kCount; ++n)
            add_product<kType>(sums[n], factor, right, kStride, n * 8, d, lane);
    }
}

/// Eight elements of a row in the words that registers hold; zero beyond the rows or the head.
struct EightHalves {
    unsigned words[4];
    __device__ Half at(int i) const { return static_cast<Half>(words[i / 2] >> i % 2 * 16); }
};
__device__ inline EightHalves load_halves(const Operand& x, const HeadRows& rows, std::int64_t row,
                                          int d, std::int64_t head_dim) {
    if (row >= rows.count || d >= head_dim) return {};
    const Half* const from = static_cast<const Half*>(x.data) + rows.first + row * rows.stride + d;
    const uint4 all = *reinterpret_cast<const uint4*>(from);
    return {{all.x, all.y, all.z, all.w}};
}

/// A thread's part of rows on their way into shared memory. All of it is asked for before any is
/// written, and before what the block waits for, so that the reads overlap.
template <int kRows, int kHead>
struct TileOnItsWay {
    static constexpr int kRuns = kRows * kHead / 8 / kTensorThreads;
    static_assert(kRuns * kTensorThreads * 8 == kRows * kHead, "every thread has as many");
    EightHalves runs[kRuns];

    __device__ static int row_of(int i) {
        return (thread_index() + i * kTensorThreads) / (kHead / 8);
    }
    __device__ static int column_of(int i) {
        return (thread_index() + i * kTensorThreads) % (kHead / 8) * 8;
    }
    __device__ TileOnItsWay(const Operand& x, const HeadRows& rows, std::int64_t row,
                            std::int64_t head_dim) {
        DEBUBBLE_UNROLL
        for (int i = 0; i < kRuns; ++i)
            runs[i] = load_halves(x, rows, row + row_of(i), column_of(i), head_dim);
    }
    /// tile [kRows][kHead].
    __device__ void write(Half* tile) const {
        DEBUBBLE_UNROLL
        for (int i = 0; i < kRuns; ++i)
            *reinterpret_cast<uint4*>(tile + row_of(i) * half_stride(kHead) + column_of(i)) = {
                runs[i].words[0], runs[i].words[1], runs[i].words[2], runs[i].words[3]};
    }
    /// Its transpose [kHead][kRows].
    __device__ void write_turned(Half* turned) const {
        DEBUBBLE_UNROLL
        for (int i = 0; i < kRuns; ++i) {
            DEBUBBLE_UNROLL
            for (int j = 0; j < 8; ++j)
                turned[(column_of(i) + j) * turned_stride(kRows) + row_of(i)] = runs[i].at(j);
        }
    }
};

}  // namespace debubble::exec::cuda
