#pragma once

#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/kernels/operands.h"

/// The machine as kernels see it: a GPU, or the processor that emulates one where a .cu file is
/// compiled as C++ (exec/cuda/emulation). All shared memory is dynamic.
#if defined(__CUDACC__)

/// Put before a loop over an array that is to stay in registers.
#define DEBUBBLE_UNROLL _Pragma("unroll")
#define DEBUBBLE_UNROLL_SOME _Pragma("unroll 8")

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace debubble::exec::cuda {

/// The first kernel since the last call that could not be launched; nullptr if none.
const char* failed_launch();
void note_launch(const char* name);
/// Asks for more shared memory than every kernel may have, once per thread, which uses one GPU.
void allow_shared_memory(const void* kernel, std::int64_t bytes);

/// Runs `kernel` on the stream. `name` is used in sentences.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const Geometry& how, Stream stream,
            Arguments... arguments) {
    if (how.blocks == 0) return;
    allow_shared_memory(reinterpret_cast<const void*>(kernel), how.shared_bytes);
    kernel<<<static_cast<unsigned>(how.blocks), how.threads,
             static_cast<std::size_t>(how.shared_bytes), stream>>>(arguments...);
    note_launch(name);
}

__device__ inline int thread_index() {
    return static_cast<int>(threadIdx.x);
}
__device__ inline int thread_count() {
    return static_cast<int>(blockDim.x);
}
__device__ inline std::int64_t block_index() {
    return blockIdx.x;
}
__device__ inline std::int64_t block_count() {
    return gridDim.x;
}
__device__ inline void block_barrier() {
    __syncthreads();
}
template <class T>
__device__ T warp_xor(T value, int lanes) {
    return __shfl_xor_sync(0xffffffffU, value, lanes);
}
__device__ inline unsigned warp_ballot(bool vote) {
    return __ballot_sync(0xffffffffU, vote);
}
__device__ inline int bit_count(unsigned bits) {
    return __popc(bits);
}
__device__ inline int lowest_bit(unsigned bits) {
    return __ffs(static_cast<int>(bits)) - 1;
}
template <class T>
__device__ T* shared_memory() {
    extern __shared__ __align__(16) unsigned char memory[];
    return reinterpret_cast<T*>(memory);
}

__device__ inline unsigned bits_of_float(float value) {
    return __float_as_uint(value);
}
__device__ inline float float_of_bits(unsigned bits) {
    return __uint_as_float(bits);
}
__device__ inline float from_bf16(std::uint16_t bits) {
    return __bfloat162float(__ushort_as_bfloat16(bits));
}
__device__ inline std::uint16_t to_bf16(float value) {
    return __bfloat16_as_ushort(__float2bfloat16_rn(value));
}
__device__ inline float from_fp16(std::uint16_t bits) {
    return __half2float(__ushort_as_half(bits));
}
__device__ inline std::uint16_t to_fp16(float value) {
    return __half_as_ushort(__float2half_rn(value));
}
/// Two numbers as a pair in memory, in one instruction.
__device__ inline unsigned to_bf16_pair(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const unsigned&>(pair);
}
__device__ inline unsigned to_fp16_pair(float low, float high) {
    const __half2 pair = __floats2half2_rn(low, high);
    return reinterpret_cast<const unsigned&>(pair);
}
/// 2^x within two units in the last place; 0 where that is subnormal (PTX, ex2.approx.ftz).
__device__ inline float power_of_two(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

/// Asks for 4 or 16 bytes to be copied into shared memory, or for as many zeros where there is
/// nothing to copy. The content is undefined until this thread has awaited its copies and the
/// others have met it at a barrier. Both addresses are multiples of kBytes.
template <int kBytes>
__device__ void copy_later(void* shared, const void* global, bool there) {
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const int bytes = there ? kBytes : 0;
    if constexpr (kBytes == 16)  // bypasses the first-level cache
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global),
                     "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global),
                     "r"(bytes)
                     : "memory");
}
__device__ inline void await_copies() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/// Four matrices [8, 8] of 16-bit elements in shared memory, read by a whole warp. Lane l points at
/// row l % 8 of matrix l / 8, at a multiple of 16 bytes; with g = lane / 4 and t = 2 (lane % 4) it
/// gets of each matrix the pair (g, t), (g, t + 1) or, if turned, (t, g), (t + 1, g) (PTX,
/// ldmatrix).
template <bool kTurned>
__device__ void load_matrices(unsigned (&pairs)[4], const std::uint16_t* row) {
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (kTurned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                     : "r"(from)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                     : "r"(from)
                     : "memory");
}

/// d [16, 8] += a [16, 16] b [16, 8] of a whole warp on tensor cores, in fp32. With g = lane / 4
/// and t = 2 (lane % 4), a lane holds of a the pairs (g, t), (g + 8, t), (g, t + 8), (g + 8, t + 8)
/// along its rows, of b the pairs (t, g), (t + 8, g) down its columns, and of d the elements (g,
/// t), (g, t + 1), (g + 8, t), (g + 8, t + 1) (PTX, "Matrix fragments for mma.m16n8k16").
template <Type kType>
__device__ inline void tensor_product(float (&d)[4], const unsigned (&a)[4],
                                      const unsigned (&b)[2]) {
    if constexpr (kType == Type::Bf16)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace debubble::exec::cuda

#else
#include "exec/cuda/emulation/emulation.h"
#endif
