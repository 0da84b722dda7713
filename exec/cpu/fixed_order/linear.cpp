#include "exec/cpu/fixed_order/linear.h"

#include "exec/cpu/fixed_order/gemm.h"
#include "exec/cpu/fixed_order/vectorise.h"

namespace debubble::exec::fixed_order {

namespace {

/// The weight seen as [inputs, outputs], however it is stored. A convolution's has more than two
/// dimensions, of which the last ones are its inputs.
template <class T>
Matrix<T> inputs_by_outputs(WeightLayout layout, const View<T>& weight, std::int64_t inputs,
                            std::int64_t outputs) {
    assert(weight.size() == inputs * outputs && "the weight joins all inputs to all outputs");
    if (layout == WeightLayout::InputsOutputs) {
        assert(weight.shape[0] == inputs && "this weight is stored [inputs, outputs]");
        return {weight.data, outputs, 1};
    }
    assert(weight.shape[0] == outputs && "this weight is stored [outputs, inputs]");
    return {weight.data, 1, inputs};
}

template <class T>
Matrix<T> transposed(const Matrix<T>& matrix) {
    return {matrix.data, matrix.column_stride, matrix.row_stride};
}

template <class T>
Matrix<T> matrix(const View<T>& x) {
    return {x.data, x.columns(), 1};
}

}  // namespace

template <Real T>
void linear_forward(WeightLayout layout, In<T> x, In<T> weight, In<T> bias, Out<T> y) {
    assert(x.rows() == y.rows() && "x [tokens, inputs], y [tokens, outputs]");
    const ProductSizes sizes{y.rows(), y.columns(), x.columns()};
    multiply(sizes, matrix(x), inputs_by_outputs(layout, weight, x.columns(), y.columns()),
             matrix(y), Write::Overwrite);
    if (bias) add_bias(bias, y);
}

template <Real T>
void add_bias(In<T> bias, Out<T> y) {
    assert(bias.size() == y.columns() && "one bias per output");
    const std::int64_t columns = y.columns();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t row = 0; row < y.rows(); ++row) {
            T* to = y.row(row);
            for (std::int64_t j = 0; j < columns; ++j) to[j] += bias[j];
        }
    });
}

template <Real T>
void linear_backward_input(WeightLayout layout, In<T> dy, In<T> weight, Out<T> dx, Write write) {
    assert(dx.rows() == dy.rows() && "dx [tokens, inputs], dy [tokens, outputs]");
    const ProductSizes sizes{dx.rows(), dx.columns(), dy.columns()};
    const auto whole = inputs_by_outputs(layout, weight, dx.columns(), dy.columns());
    multiply(sizes, matrix(dy), transposed(whole), matrix(dx), write);
}

template <Real T>
void linear_backward_weight(WeightLayout layout, In<T> x, In<T> dy, Out<T> dweight, Out<T> dbias) {
    assert(x.rows() == dy.rows() && "x [tokens, inputs], dy [tokens, outputs]");
    const Matrix<T> sum = inputs_by_outputs(layout, dweight, x.columns(), dy.columns());
    if (layout == WeightLayout::InputsOutputs) {
        multiply({x.columns(), dy.columns(), x.rows()}, transposed(matrix(x)), matrix(dy), sum,
                 Write::Add);
    } else {
        multiply({dy.columns(), x.columns(), x.rows()}, transposed(matrix(dy)), matrix(x),
                 transposed(sum), Write::Add);
    }
    if (dbias) add_rows(dy, dbias);
}

template <Real T>
void add_rows(In<T> x, Out<T> total) {
    assert(total.size() == x.columns() && "one sum per column");
    const std::int64_t columns = x.columns();
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t row = 0; row < x.rows(); ++row) {
            const T* from = x.row(row);
            for (std::int64_t j = 0; j < columns; ++j) total[j] += from[j];
        }
    });
}

#define INSTANTIATE(T)                                                                   \
    template void linear_forward<T>(WeightLayout, In<T>, In<T>, In<T>, Out<T>);          \
    template void linear_backward_input<T>(WeightLayout, In<T>, In<T>, Out<T>, Write);   \
    template void linear_backward_weight<T>(WeightLayout, In<T>, In<T>, Out<T>, Out<T>); \
    template void add_bias<T>(In<T>, Out<T>);                                            \
    template void add_rows<T>(In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::fixed_order
