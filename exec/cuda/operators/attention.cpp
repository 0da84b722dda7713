#include "exec/cuda/kernels/attention.h"

#include <algorithm>

#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

namespace {

AttentionShape shape_of(const Attention& attention, const ConstTensorView& q,
                        const ConstTensorView& k, const ConstTensorView& v) {
    AttentionShape shape{q.shape[0],
                         q.shape[1],
                         k.shape[1],
                         q.shape[2],
                         k.shape[2],
                         q.shape[3],
                         attention.causal,
                         attention.first_query,
                         static_cast<float>(attention.scale),
                         {},
                         attention.key_gradients == Write::Add,
                         q.shape[2] * v.shape[3],
                         q.shape[2] * q.shape[3],
                         k.shape[2] * k.shape[3],
                         v.shape[2] * v.shape[3],
                         v.shape[3]};
    if (attention.packed_row)
        shape.query_stride = shape.key_stride = shape.value_stride = *attention.packed_row;
    if (attention.window) shape.window = std::min(*attention.window, kNoWindow);
    shape.chunk = attention.chunk.value_or(0);
    shape.soft_cap = static_cast<float>(attention.soft_cap.value_or(0));
    if (attention.alibi) {
        shape.alibi_heads = attention.alibi->all_heads;
        shape.alibi_first = attention.alibi->first_head;
    }
    assert(has_widths_for(shape.head_dim, shape.value_dim) && "heads fit into shared memory");
    if (const auto& how = attention.dropout)
        shape.dropped = {how->dropout.stream.seed, how->dropout.stream.id,
                         how->dropout.threshold(), static_cast<float>(how->dropout.scale()),
                         how->all_heads,           how->all_positions,
                         how->first_sample,        how->first_head};
    return shape;
}

/// The sizes that sinks need: those of the results [samples, rows, heads, value_dim].
AttentionShape shape_of_results(const ConstTensorView& result) {
    AttentionShape shape;
    shape.samples = result.shape[0];
    shape.queries = result.shape[1];
    shape.heads = result.shape[2];
    shape.value_dim = result.shape[3];
    return shape;
}

}  // namespace

void CudaKernels::attention_forward(const Attention& attention, ConstTensorView q,
                                    ConstTensorView k, ConstTensorView v, TensorView result,
                                    TensorView log_sum) {
    const AttentionShape shape = shape_of(attention, q, k, v);
    const Stream stream = queue_.stream();
    float* const sums = elements<float>(log_sum);
    if (attention_ && attention_->forward(stream, shape, in(q), in(k), in(v), out(result), sums))
        return;
    cuda::attention_forward(stream, shape, in(q), in(k), in(v), out(result), sums);
}

void CudaKernels::attention_backward_input(const Attention& attention, ConstTensorView dout,
                                           ConstTensorView q, ConstTensorView k, ConstTensorView v,
                                           ConstTensorView result, ConstTensorView log_sum,
                                           TensorView dq, TensorView dk, TensorView dv) {
    const AttentionShape shape = shape_of(attention, q, k, v);
    const Stream stream = queue_.stream();
    const auto* const sums = elements<float>(log_sum);
    if (attention_ && attention_->backward(stream, shape, in(dout), in(q), in(k), in(v), in(result),
                                           sums, out(dq), out(dk), out(dv)))
        return;
    cuda::attention_backward_input(stream, shape, in(dout), in(q), in(k), in(v), in(result), sums,
                                   scratch_.floats(log_sum.shape.elements()), out(dq), out(dk),
                                   out(dv));
}

void CudaKernels::sinks_forward(ConstTensorView sinks, TensorView result, TensorView log_sum) {
    cuda::sinks_forward(queue_.stream(), shape_of_results(result), in(sinks), out(result),
                        elements<float>(log_sum));
}

void CudaKernels::sinks_backward_weight(ConstTensorView dout, ConstTensorView result,
                                        ConstTensorView log_sum, ConstTensorView sinks,
                                        TensorView dsinks) {
    cuda::sinks_backward(queue_.stream(), shape_of_results(result), in(dout), in(result),
                         elements<float>(log_sum), scratch_.floats(log_sum.shape.elements()),
                         in(sinks), out(dsinks));
}

}  // namespace debubble::exec::cuda
