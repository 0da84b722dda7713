#pragma once

#include "exec/core/tensor.h"
#include "exec/cuda/kernels/operands.h"

/// Converts the executor's tensors to arguments of launchers.
namespace debubble::exec::cuda {

constexpr Type type_of(DataType type) {
    switch (type) {
        case DataType::Fp64: return Type::Fp64;
        case DataType::Fp32: return Type::Fp32;
        case DataType::Fp16: return Type::Fp16;
        case DataType::Bf16: return Type::Bf16;
        case DataType::Int32: return Type::Int32;
    }
    return Type::Fp32;
}

inline Operand in(const ConstTensorView& x) {
    return {x.data, type_of(x.type)};
}
inline Result out(const TensorView& x) {
    return {x.data, type_of(x.type)};
}
template <class T>
const T* elements(const ConstTensorView& x) {
    return x.as<T>().data;
}
template <class T>
T* elements(const TensorView& x) {
    return x.as<T>().data;
}

/// The product of all dimensions but the last.
inline std::int64_t rows_of(const ConstTensorView& x) {
    return x.shape.columns() == 0 ? 0 : x.shape.elements() / x.shape.columns();
}

/// `count` elements from `first` on.
inline ConstTensorView piece(const ConstTensorView& x, std::int64_t first, std::int64_t count) {
    return {x.data + first * size_of(x.type), {count}, x.type};
}
inline TensorView piece(const TensorView& x, std::int64_t first, std::int64_t count) {
    return {x.data + first * size_of(x.type), {count}, x.type};
}

}  // namespace debubble::exec::cuda
