#pragma once

#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#include "exec/core/half.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/kernels/operands.h"

/// A GPU emulated by the processor, so that the very code of the kernels is tested where there is
/// no GPU. The threads of a block are fibers that switch at barriers; the blocks run one after the
/// other. The emulation finds wrong indices (shared memory starts as NaN and ends where it was
/// asked to), barriers that not all threads reach, and most missing barriers, since it runs threads
/// forwards and backwards in turn; ThreadSanitizer finds the others, and races between blocks
/// (races.h). It says nothing about speed.
// NOLINTBEGIN(bugprone-reserved-identifier): CUDA's words
#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
// NOLINTEND(bugprone-reserved-identifier)
#define DEBUBBLE_UNROLL
#define DEBUBBLE_UNROLL_SOME

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};

namespace debubble::exec::cuda {

namespace emulation {

/// An emulated stream: it does its work asynchronously and in order.
class Line {
public:
    virtual ~Line() = default;
    virtual void ask(std::function<void()> work) = 0;
    Stream as_stream() { return reinterpret_cast<Stream>(this); }
};

/// Runs `thread` once for each thread of each block, on the line of the stream, or at once if there
/// is no stream. The launch throws std::logic_error where the threads of a block wait for each
/// other.
void run(const char* name, const Geometry& how, Stream stream, std::function<void()> thread);

extern constinit thread_local int thread;
extern constinit thread_local int threads;
extern constinit thread_local std::int64_t block;
extern constinit thread_local std::int64_t blocks;
void* shared();
/// The values that the lanes of the warp give; they must be read before the next shuffle.
const std::uint64_t* of_warp(std::uint64_t value);

/// A copy into shared memory that a thread has asked for and not awaited. If `from` is nullptr, it
/// writes zeros.
struct Copy {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
};
void remember(const Copy& copy);
/// Takes a copy. Returns false if there is none left.
bool take_copy(Copy& copy);

}  // namespace emulation

template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const Geometry& how, Stream stream,
            Arguments... arguments) {
    emulation::run(name, how, stream, [=] { kernel(arguments...); });
}

inline int thread_index() {
    return emulation::thread;
}
inline int thread_count() {
    return emulation::threads;
}
inline std::int64_t block_index() {
    return emulation::block;
}
inline std::int64_t block_count() {
    return emulation::blocks;
}
void block_barrier();
unsigned warp_ballot(bool vote);
template <class T>
T warp_xor(T value, int lanes) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = emulation::of_warp(bits)[(thread_index() % kWarp) ^ lanes];
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}
inline int bit_count(unsigned bits) {
    return std::popcount(bits);
}
inline int lowest_bit(unsigned bits) {
    return std::countr_zero(bits);
}
template <class T>
T* shared_memory() {
    return static_cast<T*>(emulation::shared());
}

namespace emulation {

/// The tensor_product() of kernels/device.h, for one lane.
void multiply(bool bf16, float* d, const unsigned* a, const unsigned* b);

}  // namespace emulation

/// Writes NaNs until the copy is awaited.
template <int kBytes>
void copy_later(void* shared, const void* global, bool there) {
    assert(reinterpret_cast<std::uintptr_t>(shared) % kBytes == 0 && "a GPU faults");
    assert((!there || reinterpret_cast<std::uintptr_t>(global) % kBytes == 0) && "a GPU faults");
    std::memset(shared, 0xff, kBytes);
    emulation::remember({shared, there ? global : nullptr, kBytes});
}
inline void await_copies() {
    for (emulation::Copy copy; emulation::take_copy(copy);) {
        if (copy.from != nullptr)
            std::memcpy(copy.to, copy.from, copy.bytes);
        else
            std::memset(copy.to, 0, copy.bytes);
    }
}

template <bool kTurned>
void load_matrices(unsigned (&pairs)[4], const std::uint16_t* row) {
    assert(reinterpret_cast<std::uintptr_t>(row) % 16 == 0 && "a GPU faults");
    const std::uint64_t* const rows = emulation::of_warp(reinterpret_cast<std::uintptr_t>(row));
    const auto element = [rows](int matrix, int r, int c) -> unsigned {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): as the lanes gave it
        return reinterpret_cast<const std::uint16_t*>(rows[matrix * 8 + r])[c];
    };
    const int g = thread_index() % kWarp / 4, t = thread_index() % 4 * 2;
    for (int m = 0; m < 4; ++m)
        pairs[m] = kTurned ? element(m, t, g) | element(m, t + 1, g) << 16
                           : element(m, g, t) | element(m, g, t + 1) << 16;
}

template <Type kType>
void tensor_product(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    emulation::multiply(kType == Type::Bf16, d, a, b);
}

inline unsigned bits_of_float(float value) {
    return std::bit_cast<unsigned>(value);
}
inline float float_of_bits(unsigned bits) {
    return std::bit_cast<float>(bits);
}
inline float from_bf16(std::uint16_t bits) {
    return to_float(BFloat16{bits});
}
inline std::uint16_t to_bf16(float value) {
    return to_bfloat16(value).bits;
}
inline float from_fp16(std::uint16_t bits) {
    return to_float(Float16{bits});
}
inline std::uint16_t to_fp16(float value) {
    return to_float16(value).bits;
}
inline unsigned to_bf16_pair(float low, float high) {
    return to_bf16(low) | static_cast<unsigned>(to_bf16(high)) << 16;
}
inline unsigned to_fp16_pair(float low, float high) {
    return to_fp16(low) | static_cast<unsigned>(to_fp16(high)) << 16;
}
inline float power_of_two(float x) {
    return std::exp2(x);
}

}  // namespace debubble::exec::cuda
