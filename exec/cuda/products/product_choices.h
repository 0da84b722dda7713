#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "exec/core/device.h"
#include "exec/cuda/products/matmul.h"
#include "exec/cuda/queue.h"

/// The kinds of GEMMs, and the choice of a library's algorithm for each.
namespace debubble::exec::cuda {

/// The largest power of two, up to 256, of which the address is a multiple.
inline std::uint32_t alignment_of(const void* data) {
    std::uint32_t alignment = 256;
    while (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) alignment /= 2;
    return alignment;
}

/// The properties of a GEMM on which the choice of its kernel depends: GEMMs with equal properties
/// use the same kernel.
struct ProductKind {
    struct Memory {
        Type type{};
        bool transposed = false;
        std::int64_t row_stride = 0;
        std::uint32_t alignment = 0;  ///< 256 for nullptr
        friend auto operator<=>(const Memory&, const Memory&) = default;
    };
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    Memory a, b, c;
    bool adds = false;
    bool has_bias = false;
    Memory bias;
    Epilogue epilogue{};
    Memory wide;
    bool makes_sums = false;
    bool sums_of_b = false;
    friend auto operator<=>(const ProductKind&, const ProductKind&) = default;
};

inline ProductKind kind_of(const Product& p) {
    const auto matrix = [](const Matrix& x) -> ProductKind::Memory {
        return {x.elements.type, x.transposed, x.row_stride, alignment_of(x.elements.data)};
    };
    const auto vector = [](const auto& x) -> ProductKind::Memory {
        return {x.type, false, 0, alignment_of(x.data)};
    };
    return {p.m,
            p.n,
            p.k,
            matrix(p.a),
            matrix(p.b),
            vector(p.c),
            p.adds,
            static_cast<bool>(p.bias),
            vector(p.bias),
            p.epilogue,
            vector(p.wide),
            p.sums != nullptr,
            p.sums_of_b};
}

/// The way in which a library chooses the algorithm of a GEMM when it first runs.
struct ProductChoosing {
    int multiprocessors = 0;  ///< that GEMMs may count on; 0: all
    bool times = false;       ///< whether all proposals are tried, and the fastest is taken
    ProductChoices chosen;    ///< algorithms that are taken without trial
    ProductChoices timed;     ///< the fastest ones of those that were tried
};

/// A description of the GEMM, different for every kind: sizes, types, layouts, alignments and the
/// epilogue.
std::string words_of(const ProductKind& kind);

/// GEMMs by cuBLASLt on the queue. Each shape uses the first algorithm of the library's
/// heuristic that the library does not refuse, and keeps it, or the choice of `how`, which is read
/// when a shape is new and must outlive the result. All algorithms add in fp32. Only cublas_lt.cpp
/// knows the library.
std::unique_ptr<Matmul> make_cublas_lt(Queue& queue, ProductChoosing& how);
std::size_t cublas_lt_version();  ///< as cuBLASLt counts: 130102 is 13.1.2

}  // namespace debubble::exec::cuda
