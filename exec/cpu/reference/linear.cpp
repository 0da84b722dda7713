#include "exec/cpu/reference/linear.h"

#include "exec/cpu/reference/gemm.h"
#include "exec/cpu/reference/vectorise.h"

namespace debubble::exec::reference {

namespace {

/// The weight seen as [inputs, outputs], however it is stored.
template <class T>
Matrix<T> inputs_by_outputs(WeightLayout layout, const View<T>& weight) {
    assert(weight.shape.rank() >= 2 && "a weight is a matrix");
    if (layout == WeightLayout::InputsOutputs) return {weight.data, weight.columns(), 1};
    return {weight.data, 1, weight.size() / weight.shape[0]};
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
    assert(x.rows() == y.rows() && x.columns() * y.columns() == weight.size() &&
           "x [tokens, inputs] times the weight is y [tokens, outputs]");
    const Extents extents{y.rows(), y.columns(), x.columns()};
    multiply(extents, matrix(x), inputs_by_outputs(layout, weight), matrix(y), Write::Overwrite);
    if (!bias) return;
    assert(bias.size() == y.columns() && "one bias per output");
    vectorised([&]() DEBUBBLE_INLINE {
        for (std::int64_t row = 0; row < y.rows(); ++row) {
            T* to = y.row(row);
            for (std::int64_t j = 0; j < y.columns(); ++j) to[j] += bias[j];
        }
    });
}

template <Real T>
void linear_backward_input(WeightLayout layout, In<T> dy, In<T> weight, Out<T> dx, Write write) {
    assert(dx.rows() == dy.rows() && dx.columns() * dy.columns() == weight.size() &&
           "dy [tokens, outputs] times the weight's transpose is dx [tokens, inputs]");
    const Extents extents{dx.rows(), dx.columns(), dy.columns()};
    multiply(extents, matrix(dy), transposed(inputs_by_outputs(layout, weight)), matrix(dx), write);
}

template <Real T>
void linear_backward_weight(WeightLayout layout, In<T> x, In<T> dy, Out<T> dweight, Out<T> dbias) {
    assert(x.rows() == dy.rows() && x.columns() * dy.columns() == dweight.size() &&
           "the weight's gradient is [inputs, outputs]");
    const std::int64_t tokens = x.rows();
    if (layout == WeightLayout::InputsOutputs) {
        multiply({x.columns(), dy.columns(), tokens}, transposed(matrix(x)), matrix(dy),
                 Matrix<T>{dweight.data, dy.columns(), 1}, Write::Add);
    } else {
        multiply({dy.columns(), x.columns(), tokens}, transposed(matrix(dy)), matrix(x),
                 Matrix<T>{dweight.data, x.columns(), 1}, Write::Add);
    }
    if (dbias) add_rows(dy, dbias);
}

template <Real T>
void add_rows(In<T> x, Out<T> total) {
    assert(total.size() == x.columns() && "one sum per column");
    vectorised([&]() DEBUBBLE_INLINE {
        for (std::int64_t row = 0; row < x.rows(); ++row) {
            const T* from = x.row(row);
            for (std::int64_t j = 0; j < x.columns(); ++j) total[j] += from[j];
        }
    });
}

#define INSTANTIATE(T)                                                                   \
    template void linear_forward<T>(WeightLayout, In<T>, In<T>, In<T>, Out<T>);          \
    template void linear_backward_input<T>(WeightLayout, In<T>, In<T>, Out<T>, Write);   \
    template void linear_backward_weight<T>(WeightLayout, In<T>, In<T>, Out<T>, Out<T>); \
    template void add_rows<T>(In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::reference
