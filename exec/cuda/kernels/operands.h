#pragma once

#include <cstdint>

/// The arguments of kernel launchers: raw device pointers and sizes. Neither this nor the other
/// headers of this folder need CUDA or the rest of the project.
struct CUstream_st;

namespace debubble::exec::cuda {

using Stream = CUstream_st*;

enum class Type : std::uint8_t { Fp64, Fp32, Fp16, Bf16, Int32 };

/// Elements to read, of a type that is known when the kernel runs: kernels compute in fp32 and
/// convert as they load and store, so that there is one kernel for all types.
struct Operand {
    const void* data = nullptr;
    Type type = Type::Fp32;
    explicit constexpr operator bool() const { return data != nullptr; }
};

/// Elements to write, or to change.
struct Result {
    void* data = nullptr;
    Type type = Type::Fp32;
    explicit constexpr operator bool() const { return data != nullptr; }
    constexpr operator Operand() const { return {data, type}; }
};

}  // namespace debubble::exec::cuda
