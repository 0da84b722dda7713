#pragma once

#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/kernels/operands.h"

/// What kernels know of the machine that runs them: a GPU, or the processor that emulates one
/// where a .cu file is compiled as C++ (exec/cuda/emulation). All shared memory is dynamic.
#if defined(__CUDACC__)

/// Before a loop over an array that is to stay in registers.
#define DEBUBBLE_UNROLL _Pragma("unroll")
#define DEBUBBLE_UNROLL_SOME _Pragma("unroll 8")

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace debubble::exec::cuda {

/// The first kernel since the last question that could not be launched; nullptr if none.
const char* failed_launch();
void note_launch(const char* name);

/// Runs `kernel` on the stream. `name` is for people.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const Geometry& how, Stream stream,
            Arguments... arguments) {
    if (how.blocks == 0) return;
    if (how.shared_bytes > 48 * 1024)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(how.shared_bytes));
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

/// d [16, 8] += a [16, 16] b [16, 8] of a whole warp on tensor cores, in fp32. With g = lane / 4
/// and t = 2 (lane % 4), a lane has of a the pairs (g, t), (g + 8, t), (g, t + 8), (g + 8, t + 8)
/// along its rows, of b the pairs (t, g), (t + 8, g) down its columns, and of d the elements
/// (g, t), (g, t + 1), (g + 8, t), (g + 8, t + 1) (PTX, "Matrix fragments for mma.m16n8k16").
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
