#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/kernels/layers.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

namespace {

NormShape shape_of(Norm kind, const ConstTensorView& x) {
    return {kind, rows_of(x), x.shape.columns(), x.shape.columns()};
}

/// The shape of a norm whose x may have more columns than are normalised.
NormShape shape_of_columns(const ConstTensorView& x, const ConstTensorView& y) {
    return {Norm::Rms, rows_of(x), y.shape.columns(), x.shape.columns()};
}

}  // namespace

void CudaKernels::layer_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                     ConstTensorView bias, TensorView y, TensorView statistics) {
    norm_forward(queue_.stream(), shape_of(Norm::Layer, x), static_cast<float>(eps), {in(x)},
                 in(weight), in(bias), out(y), elements<float>(statistics));
}

void CudaKernels::residual_layer_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                              ConstTensorView weight, ConstTensorView bias,
                                              TensorView sum, TensorView y, TensorView statistics) {
    norm_forward(queue_.stream(), shape_of(Norm::Layer, x), static_cast<float>(eps),
                 {in(x), in(branch), out(sum)}, in(weight), in(bias), out(y),
                 elements<float>(statistics));
}

void CudaKernels::layer_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                            ConstTensorView weight, ConstTensorView statistics,
                                            TensorView dx, Write write) {
    norm_backward_input(queue_.stream(), shape_of(Norm::Layer, x), in(dy), in(x), in(weight),
                        elements<float>(statistics),
                        write == Write::Add ? Operand(out(dx)) : Operand{}, out(dx));
}

void CudaKernels::layer_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                             ConstTensorView statistics, TensorView dweight,
                                             TensorView dbias) {
    const NormShape shape = shape_of(Norm::Layer, x);
    norm_backward_weight(queue_.stream(), shape, in(dy), in(x), elements<float>(statistics),
                         scratch_.floats(2 * chunks_of(shape.rows) * shape.hidden), out(dweight),
                         out(dbias));
}

void CudaKernels::layer_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                      ConstTensorView statistics, ConstTensorView through,
                                      TensorView dx, TensorView dweight, TensorView dbias) {
    layer_norm_backward_weight(dy, x, statistics, dweight, dbias);
    norm_backward_input(queue_.stream(), shape_of(Norm::Layer, x), in(dy), in(x), in(weight),
                        elements<float>(statistics), in(through), out(dx));
}

void CudaKernels::rms_norm_forward(double eps, ConstTensorView x, ConstTensorView weight,
                                   TensorView y, TensorView statistics) {
    norm_forward(queue_.stream(), shape_of_columns(x, y), static_cast<float>(eps), {in(x)},
                 in(weight), {}, out(y), elements<float>(statistics));
}

void CudaKernels::residual_rms_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                            ConstTensorView weight, TensorView sum, TensorView y,
                                            TensorView statistics) {
    norm_forward(queue_.stream(), shape_of(Norm::Rms, x), static_cast<float>(eps),
                 {in(x), in(branch), out(sum)}, in(weight), {}, out(y),
                 elements<float>(statistics));
}

void CudaKernels::rms_norm_backward_input(ConstTensorView dy, ConstTensorView x,
                                          ConstTensorView weight, ConstTensorView statistics,
                                          TensorView dx, Write write) {
    norm_backward_input(queue_.stream(), shape_of_columns(x, dy), in(dy), in(x), in(weight),
                        elements<float>(statistics),
                        write == Write::Add ? Operand(out(dx)) : Operand{}, out(dx));
}

void CudaKernels::rms_norm_backward_weight(ConstTensorView dy, ConstTensorView x,
                                           ConstTensorView statistics, TensorView dweight) {
    const NormShape shape = shape_of_columns(x, dy);
    norm_backward_weight(queue_.stream(), shape, in(dy), in(x), elements<float>(statistics),
                         scratch_.floats(chunks_of(shape.rows) * shape.hidden), out(dweight), {});
}

void CudaKernels::rms_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                    ConstTensorView statistics, ConstTensorView through,
                                    TensorView dx, TensorView dweight) {
    rms_norm_backward_weight(dy, x, statistics, dweight);
    norm_backward_input(queue_.stream(), shape_of_columns(x, dy), in(dy), in(x), in(weight),
                        elements<float>(statistics), in(through), out(dx));
}

}  // namespace debubble::exec::cuda
