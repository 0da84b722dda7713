#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/kernels/layers.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

namespace {

/// The weight as [inputs, outputs], however it is stored.
Matrix inputs_by_outputs(WeightLayout layout, const ConstTensorView& weight, std::int64_t inputs,
                         std::int64_t outputs) {
    assert(weight.shape.elements() == inputs * outputs && "the weight joins all to all");
    if (layout == WeightLayout::InputsOutputs) return {in(weight), outputs, false};
    return {in(weight), inputs, true};
}

/// y = x W + bias.
Product forward_product(WeightLayout layout, const ConstTensorView& x,
                        const ConstTensorView& weight, const ConstTensorView& bias,
                        const TensorView& y) {
    const std::int64_t inputs = x.shape.columns(), outputs = y.shape.columns();
    return {rows_of(x),
            outputs,
            inputs,
            {in(x), inputs, false},
            inputs_by_outputs(layout, weight, inputs, outputs),
            out(y),
            false,
            in(bias)};
}

}  // namespace

void CudaKernels::linear_forward(WeightLayout layout, ConstTensorView x, ConstTensorView weight,
                                 ConstTensorView bias, TensorView y) {
    Product product = forward_product(layout, x, weight, bias, y);
    if (!bias) return (*matmul_)(product);
    if (matmul_->at_once(product)) return;
    product.bias = {};
    (*matmul_)(product);
    add_bias(bias, y);
}

void CudaKernels::linear_backward_input(WeightLayout layout, ConstTensorView dy,
                                        ConstTensorView weight, TensorView dx, Write write) {
    const std::int64_t inputs = dx.shape.columns(), outputs = dy.shape.columns();
    Matrix turned = inputs_by_outputs(layout, weight, inputs, outputs);
    turned.transposed = !turned.transposed;
    (*matmul_)({rows_of(dy),
                inputs,
                outputs,
                {in(dy), outputs, false},
                turned,
                out(dx),
                write == Write::Add});
}

void CudaKernels::linear_activation_forward(WeightLayout layout, Nonlinearity kind,
                                            ConstTensorView x, ConstTensorView weight,
                                            ConstTensorView bias, TensorView wide, TensorView y) {
    Product product = forward_product(layout, x, weight, bias, y);
    product.epilogue = Epilogue::Gelu;
    product.wide = out(wide);
    if (kind == Nonlinearity::GeluTanh && matmul_->at_once(product)) return;
    Kernels::linear_activation_forward(layout, kind, x, weight, bias, wide, y);
}

void CudaKernels::linear_activation_backward_input(WeightLayout layout, Nonlinearity kind,
                                                   ConstTensorView dy, ConstTensorView weight,
                                                   ConstTensorView wide, TensorView dwide) {
    const std::int64_t inputs = dwide.shape.columns(), outputs = dy.shape.columns();
    Matrix turned = inputs_by_outputs(layout, weight, inputs, outputs);
    turned.transposed = !turned.transposed;
    Product product{rows_of(dy), inputs,     outputs, {in(dy), outputs, false},
                    turned,      out(dwide), false};
    product.epilogue = Epilogue::GeluGradient;
    product.wide = {const_cast<std::byte*>(wide.data), type_of(wide.type)};  // only read
    if (kind == Nonlinearity::GeluTanh && matmul_->at_once(product)) return;
    Kernels::linear_activation_backward_input(layout, kind, dy, weight, wide, dwide);
}

void CudaKernels::linear_backward_weight(WeightLayout layout, ConstTensorView x, ConstTensorView dy,
                                         TensorView dweight, TensorView dbias) {
    const std::int64_t inputs = x.shape.columns(), outputs = dy.shape.columns();
    assert(dweight.shape.elements() == inputs * outputs && "the weight joins all to all");
    const Matrix rows_of_x{in(x), inputs, false}, columns_of_x{in(x), inputs, true};
    const Matrix rows_of_dy{in(dy), outputs, false}, columns_of_dy{in(dy), outputs, true};
    const bool inputs_first = layout == WeightLayout::InputsOutputs;
    Product product =
        inputs_first
            ? Product{inputs, outputs, rows_of(x), columns_of_x, rows_of_dy, out(dweight), true}
            : Product{outputs, inputs, rows_of(x), columns_of_dy, rows_of_x, out(dweight), true};
    if (!dbias) return (*matmul_)(product);
    // The sums of dy over the tokens are computed with this GEMM. If they were computed with the
    // GEMM that makes dy (cuBLASLt's DGELU_BGRAD), they would be rounded to dy's type.
    Product with_sums = product;
    with_sums.sums = scratch_.floats(outputs);
    with_sums.sums_of_b = inputs_first;
    if (matmul_->at_once(with_sums))
        return sum(queue_.stream(), outputs, out(dbias), {with_sums.sums, Type::Fp32}, out(dbias));
    (*matmul_)(product);
    add_column_sums(dy, dbias);
}

void CudaKernels::add_bias(ConstTensorView bias, TensorView y) {
    cuda::add_bias(queue_.stream(), rows_of(y), y.shape.columns(), in(bias), out(y));
}

void CudaKernels::bias_backward_weight(ConstTensorView dy, TensorView dbias) {
    add_column_sums(dy, dbias);
}

void CudaKernels::add_column_sums(const ConstTensorView& x, const TensorView& total) {
    const std::int64_t rows = rows_of(x), columns = x.shape.columns();
    cuda::add_column_sums(queue_.stream(), rows, columns, in(x),
                          scratch_.floats(chunks_of(rows) * columns), out(total));
}

}  // namespace debubble::exec::cuda
