#pragma once

#include <cstdint>
#include <type_traits>

#include "exec/core/operator_options.h"
#include "exec/cpu/loops/operands.h"

/// The GEMMs of linear layers and attention.
namespace debubble::exec::fixed_order {

/// A matrix inside a larger array: a transpose swaps the strides, a head has the row stride of all
/// heads.
template <class T>
struct Matrix {
    T* data = nullptr;
    std::int64_t row_stride = 0;  ///< in elements
    std::int64_t column_stride = 1;
};

template <class T>
Matrix<T> transposed(const Matrix<T>& matrix) {
    return {matrix.data, matrix.column_stride, matrix.row_stride};
}

/// c [m, n] = or += a [m, k] b [k, n]; the columns of c are contiguous.
struct ProductSizes {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
};

/// Each element of c is summed in ascending k, one fused term after the other, starting from the
/// content of c under Write::Add. So its bits depend neither on m and n nor on how the rows of k
/// are spread over successive calls.
template <class T>
void multiply(const ProductSizes& sizes, const Matrix<const std::type_identity_t<T>>& a,
              const Matrix<const std::type_identity_t<T>>& b, const Matrix<T>& c, Write write);

// y = x W + b. Shapes: x [tokens, inputs], y [tokens, outputs], bias [outputs] or empty.
// The weight is stored [outputs, inputs] in Hugging Face's Linear (Llama, ViT) and
// [inputs, outputs] in its Conv1D (GPT-2).

using loops::In;
using loops::Out;

void linear_forward(WeightLayout layout, In x, In weight, In bias, Out y);

/// dx = or += dy W^T; adding is for layers that share an input (query, key, value).
void linear_backward_input(WeightLayout layout, In dy, In weight, Out dx, Write write);

/// dweight += x^T dy, and dbias += sum of dy over the tokens unless it is empty.
void linear_backward_weight(WeightLayout layout, In x, In dy, Out dweight, Out dbias);

}  // namespace debubble::exec::fixed_order
