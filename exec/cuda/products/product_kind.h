#pragma once

#include <compare>
#include <cstdint>

#include "exec/cuda/products/matmul.h"

namespace debubble::exec::cuda {

/// The largest power of two, up to 256, of which the address is a multiple.
inline std::uint32_t alignment_of(const void* data) {
    std::uint32_t alignment = 256;
    while (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) alignment /= 2;
    return alignment;
}

/// The properties of a product on which the choice of its kernel depends: products that are equal
/// in them are made alike.
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

}  // namespace debubble::exec::cuda
