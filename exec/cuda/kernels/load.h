#pragma once

#include "exec/cuda/kernels/device.h"

/// Elements of any type as fp32, one by one or eight at once, and sums over a block. Only .cu files
/// include this.
namespace debubble::exec::cuda {

inline constexpr float kLog2E = 1.44269504088896341F;  ///< turns power_of_two() into e^x

__device__ inline float load(const Operand& x, std::int64_t i) {
    switch (x.type) {
        case Type::Bf16: return from_bf16(static_cast<const std::uint16_t*>(x.data)[i]);
        case Type::Fp16: return from_fp16(static_cast<const std::uint16_t*>(x.data)[i]);
        default: return static_cast<const float*>(x.data)[i];
    }
}

/// Rounds to nearest, ties to even.
__device__ inline void store(const Result& y, std::int64_t i, float value) {
    switch (y.type) {
        case Type::Bf16: static_cast<std::uint16_t*>(y.data)[i] = to_bf16(value); return;
        case Type::Fp16: static_cast<std::uint16_t*>(y.data)[i] = to_fp16(value); return;
        default: static_cast<float*>(y.data)[i] = value;
    }
}

/// Two neighbours in one word, or each in a word of its own.
struct Pair {
    float low, high;
};
__device__ inline Pair load_pair(const Operand& x, std::int64_t i) {
    if (x.type == Type::Fp32) {
        const float2 both = *reinterpret_cast<const float2*>(static_cast<const float*>(x.data) + i);
        return {both.x, both.y};
    }
    const unsigned both =
        *reinterpret_cast<const unsigned*>(static_cast<const std::uint16_t*>(x.data) + i);
    const auto low = static_cast<std::uint16_t>(both),
               high = static_cast<std::uint16_t>(both >> 16);
    return x.type == Type::Bf16 ? Pair{from_bf16(low), from_bf16(high)}
                                : Pair{from_fp16(low), from_fp16(high)};
}
__device__ inline void store_pair(const Result& y, std::int64_t i, float low, float high) {
    if (y.type == Type::Fp32)
        *reinterpret_cast<float2*>(static_cast<float*>(y.data) + i) = float2{low, high};
    else
        *reinterpret_cast<unsigned*>(static_cast<std::uint16_t*>(y.data) + i) =
            y.type == Type::Bf16 ? to_bf16_pair(low, high) : to_fp16_pair(low, high);
}

/// The elements of one thread: kElementsEach, except for the last thread.
struct ElementRun {
    std::int64_t first = 0;
    int count = 0;
};
__device__ inline ElementRun run_from(std::int64_t first, std::int64_t end) {
    const std::int64_t left = end - first;
    return {first, left >= kElementsEach ? kElementsEach : left > 0 ? static_cast<int>(left) : 0};
}
__device__ inline ElementRun run_of_thread(std::int64_t elements) {
    return run_from((block_index() * thread_count() + thread_index()) * kElementsEach, elements);
}

/// The `turn`-th run of this thread in a row of `columns` elements, whose runs go round the block's
/// threads; empty beyond the row's end.
__device__ inline ElementRun run_of_row(std::int64_t columns, int turn) {
    return run_from(
        (static_cast<std::int64_t>(turn) * thread_count() + thread_index()) * kElementsEach,
        columns);
}
__device__ inline ElementRun shifted(ElementRun run, std::int64_t by) {
    return {run.first + by, run.count};
}

/// The same elements in runs that end at multiples of eight of the whole tensor, so that all but
/// the row's first and last are read at once, wherever the row starts.
struct AlignedRow {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    __device__ std::int64_t runs() const {
        return end > begin ? (end - 1) / kElementsEach - begin / kElementsEach + 1 : 0;
    }
    __device__ ElementRun run(std::int64_t index) const {
        const std::int64_t first = (begin / kElementsEach + index) * kElementsEach;
        const std::int64_t from = first < begin ? begin : first;
        const std::int64_t to = first + kElementsEach > end ? end : first + kElementsEach;
        return {from, static_cast<int>(to - from)};
    }
};

struct Vec8 {
    float at[kElementsEach];
};

__device__ inline bool is_aligned(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

/// Eight elements in their form in memory: words of 16-bit elements, or fp32 in both parts.
/// Fetching several before unpacking any lets the reads overlap.
struct Packed128 {
    uint4 low, high;
};
__device__ inline bool is_aligned_run(const Operand& x, ElementRun run) {
    const std::int64_t size = x.type == Type::Fp32 ? 4 : 2;
    return run.count == kElementsEach &&
           is_aligned(static_cast<const char*>(x.data) + run.first * size);
}
__device__ inline uint4 bits_of(const float4& values) {
    return {bits_of_float(values.x), bits_of_float(values.y), bits_of_float(values.z),
            bits_of_float(values.w)};
}
/// Precondition: is_aligned_run.
__device__ inline Packed128 fetch(const Operand& x, std::int64_t first) {
    if (x.type == Type::Fp32) {
        const auto* from =
            reinterpret_cast<const float4*>(static_cast<const float*>(x.data) + first);
        return {bits_of(from[0]), bits_of(from[1])};
    }
    return {*reinterpret_cast<const uint4*>(static_cast<const std::uint16_t*>(x.data) + first), {}};
}
__device__ inline Vec8 unpacked(Type type, const Packed128& packed) {
    const unsigned words[8] = {packed.low.x,  packed.low.y,  packed.low.z,  packed.low.w,
                               packed.high.x, packed.high.y, packed.high.z, packed.high.w};
    Vec8 values;
    DEBUBBLE_UNROLL
    for (int i = 0; i < kElementsEach; ++i) {
        const auto half = static_cast<std::uint16_t>(words[i / 2] >> i % 2 * 16);
        values.at[i] = type == Type::Fp32   ? float_of_bits(words[i])
                       : type == Type::Bf16 ? from_bf16(half)
                                            : from_fp16(half);
    }
    return values;
}

/// Eight elements in one or two loads of 16 bytes where alignment allows it; zero beyond the run.
__device__ inline Vec8 load_run(const Operand& x, ElementRun run) {
    if (is_aligned_run(x, run)) return unpacked(x.type, fetch(x, run.first));
    Vec8 values;
    DEBUBBLE_UNROLL
    for (int i = 0; i < kElementsEach; ++i)
        values.at[i] = i < run.count ? load(x, run.first + i) : 0.F;
    return values;
}

__device__ inline void store_run(const Result& y, ElementRun run, const Vec8& values) {
    if (y.type == Type::Fp32) {
        auto* to = static_cast<float*>(y.data) + run.first;
        if (run.count == kElementsEach && is_aligned(to)) {
            const float* v = values.at;
            reinterpret_cast<float4*>(to)[0] = float4{v[0], v[1], v[2], v[3]};
            reinterpret_cast<float4*>(to)[1] = float4{v[4], v[5], v[6], v[7]};
            return;
        }
    } else {
        auto* to = static_cast<std::uint16_t*>(y.data) + run.first;
        if (run.count == kElementsEach && is_aligned(to)) {
            unsigned pairs[4];
            DEBUBBLE_UNROLL
            for (int i = 0; i < 4; ++i) {
                const float low = values.at[2 * i], high = values.at[2 * i + 1];
                pairs[i] = y.type == Type::Bf16 ? to_bf16_pair(low, high) : to_fp16_pair(low, high);
            }
            *reinterpret_cast<uint4*>(to) = uint4{pairs[0], pairs[1], pairs[2], pairs[3]};
            return;
        }
    }
    DEBUBBLE_UNROLL
    for (int i = 0; i < kElementsEach; ++i)
        if (i < run.count) store(y, run.first + i, values.at[i]);
}

/// The values as they will be once they are stored.
__device__ inline Vec8 rounded(Type type, Vec8 values) {
    DEBUBBLE_UNROLL
    for (float& value : values.at) {
        if (type == Type::Bf16) value = from_bf16(to_bf16(value));
        if (type == Type::Fp16) value = from_fp16(to_fp16(value));
    }
    return values;
}

struct Add {
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
/// The larger of two values; NaN wins.
struct Larger {
    __device__ float operator()(float a, float b) const { return b > a || b != b ? b : a; }
};

/// A warp takes a token (over_tokens).
__device__ inline std::int64_t token_of_warp() {
    return block_index() * (thread_count() / kWarp) + thread_index() / kWarp;
}
__device__ inline int lane_of_warp() {
    return thread_index() % kWarp;
}

/// Joins the values of `count` neighbouring lanes; all lanes of the warp call it.
template <class T, class Join>
__device__ T over_lanes(T value, Join join, int count = kWarp) {
    for (int lanes = count / 2; lanes > 0; lanes /= 2) value = join(value, warp_xor(value, lanes));
    return value;
}

/// Joins the values of all threads in one order and gives the result to every thread. `scratch` has
/// room for one value per warp; all threads of the block call it.
template <class T, class Join>
__device__ T over_block(T value, Join join, T* scratch) {
    value = over_lanes(value, join);
    const int warps = thread_count() / kWarp;
    block_barrier();  // no thread still reads the scratch before
    if (thread_index() % kWarp == 0) scratch[thread_index() / kWarp] = value;
    block_barrier();
    T all = scratch[0];
    for (int w = 1; w < warps; ++w) all = join(all, scratch[w]);
    return all;
}

/// Adds term(0), term(1) .. to a total. One block adds everything, so that the sum has one order.
template <class Term>
__global__ void add_to_total(std::int64_t count, Term term, double* total) {
    double mine = 0;
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) mine += term(i);
    const double all = over_block(mine, Add{}, shared_memory<double>());
    if (thread_index() == 0) *total += all;
}

}  // namespace debubble::exec::cuda
