#include "exec/cpu/fixed_order/gemm.h"

#include "exec/cpu/loops/elements.h"

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
Matrix<T> matrix(const View<T>& x) {
    return {x.data, x.columns(), 1};
}

}  // namespace

void linear_forward(WeightLayout layout, In x, In weight, In bias, Out y) {
    assert(x.rows() == y.rows() && "x [tokens, inputs], y [tokens, outputs]");
    const ProductSizes sizes{y.rows(), y.columns(), x.columns()};
    multiply(sizes, matrix(x), inputs_by_outputs(layout, weight, x.columns(), y.columns()),
             matrix(y), Write::Overwrite);
    if (bias) loops::add_bias(bias, y);
}

void linear_backward_input(WeightLayout layout, In dy, In weight, Out dx, Write write) {
    assert(dx.rows() == dy.rows() && "dx [tokens, inputs], dy [tokens, outputs]");
    const ProductSizes sizes{dx.rows(), dx.columns(), dy.columns()};
    const auto whole = inputs_by_outputs(layout, weight, dx.columns(), dy.columns());
    multiply(sizes, matrix(dy), transposed(whole), matrix(dx), write);
}

void linear_backward_weight(WeightLayout layout, In x, In dy, Out dweight, Out dbias) {
    assert(x.rows() == dy.rows() && "x [tokens, inputs], dy [tokens, outputs]");
    const Matrix<float> sum = inputs_by_outputs(layout, dweight, x.columns(), dy.columns());
    if (layout == WeightLayout::InputsOutputs) {
        multiply({x.columns(), dy.columns(), x.rows()}, transposed(matrix(x)), matrix(dy), sum,
                 Write::Add);
    } else {
        multiply({dy.columns(), x.columns(), x.rows()}, transposed(matrix(dy)), matrix(x),
                 transposed(sum), Write::Add);
    }
    if (dbias) loops::add_rows(dy, dbias);
}

}  // namespace debubble::exec::fixed_order
