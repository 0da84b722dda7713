#pragma once

#include <cassert>
#include <cstdint>

#include "exec/core/tensor.h"

namespace debubble::exec {

/// Doubles by their indices, as formulas name them: x(token, column). An index beyond its dimension
/// is a mistake of the test.
template <class T>
class Array {
public:
    Array(T* data, const Shape& shape) : data_(data), shape_(shape) {}

    template <class... Index>
    T& operator()(Index... index) const {
        std::int64_t at = 0;
        int axis = 0;
        ((at = at * shape_[axis] + inside(index, shape_[axis]), ++axis), ...);
        assert(axis == shape_.rank() && "an index for every dimension");
        return data_[at];
    }
    std::int64_t extent(int axis) const { return shape_[axis]; }

private:
    static std::int64_t inside(std::int64_t index, [[maybe_unused]] std::int64_t extent) {
        assert(0 <= index && index < extent && "an index lies within its extent");
        return index;
    }

    T* data_;
    Shape shape_;
};

/// The elements of an operand with the shape that its operator states.
inline Array<const double> read(const ConstTensorView& x, const Shape& shape) {
    assert(x.shape.elements() == shape.elements() && "an operand has the sizes of its operator");
    return {x.as<double>().data, shape};
}
inline Array<double> write(const TensorView& x, const Shape& shape) {
    assert(x.shape.elements() == shape.elements() && "an operand has the sizes of its operator");
    return {x.as<double>().data, shape};
}
inline Array<const std::int32_t> integers_of(const ConstTensorView& x) {
    return {x.as<std::int32_t>().data, {x.shape.elements()}};
}

/// The product of all dimensions but the last.
inline std::int64_t rows_of(const ConstTensorView& x) {
    return x.shape.elements() / x.shape.columns();
}

}  // namespace debubble::exec
