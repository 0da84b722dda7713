#pragma once

#include "exec/core/tensor.h"

/// Parts of contiguous tensors.
namespace debubble::exec {

/// `count` elements from `first` on.
inline TensorView piece(const TensorView& x, std::int64_t first, std::int64_t count) {
    return {x.data + first * size_of(x.type), {count}, x.type};
}
inline ConstTensorView piece(const ConstTensorView& x, std::int64_t first, std::int64_t count) {
    return {x.data + first * size_of(x.type), {count}, x.type};
}

/// The product of all dimensions but the last.
inline std::int64_t rows_of(const ConstTensorView& x) {
    return x.shape.columns() == 0 ? 0 : x.shape.elements() / x.shape.columns();
}

/// A run of an operator's rows, whatever each operand has per row.
struct Rows {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t total = 0;

    std::int64_t end() const { return first + count; }
    /// The operand's elements of these rows, [count, width]; an empty operand stays empty.
    TensorView of(const TensorView& x) const {
        if (!x) return x;
        const std::int64_t width = x.shape.elements() / total;
        return piece(x, first * width, count * width).reshaped({count, width});
    }
    ConstTensorView of(const ConstTensorView& x) const {
        if (!x) return x;
        const std::int64_t width = x.shape.elements() / total;
        return piece(x, first * width, count * width).reshaped({count, width});
    }
};

}  // namespace debubble::exec
