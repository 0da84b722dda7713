#include "exec/cuda/kernels/attention.h"
#include "exec/core/packed_rows.h"
#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/kernels/moving.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

namespace {

struct PackedStrides : PackedRows {
    using PackedRows::PackedRows;
    Strides packed(std::int64_t column) const { return {rows * width(), width(), column}; }
    Strides queries() const { return {rows * query, query}; }
    Strides keys() const { return {all_rows * key, key, first_row * key}; }
    Rows of_queries() const { return {samples, rows, query}; }
    Rows of_keys() const { return {samples, rows, key}; }
};

Rotation rotation_of(const TensorView& x, std::int64_t heads, std::int64_t first_position,
                     float direction) {
    assert(x.shape.rank() == 4 && heads <= x.shape[2] && "x [samples, rows, heads, head_dim]");
    return {x.shape[0], x.shape[1], x.shape[2], heads, x.shape[3], first_position, direction};
}

AttentionShape shape_of(const Attention& attention, const ConstTensorView& q,
                        const ConstTensorView& k) {
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
                         q.shape[2] * q.shape[3],
                         q.shape[2] * q.shape[3],
                         k.shape[2] * k.shape[3]};
    if (attention.packed_row > 0) shape.query_stride = shape.key_stride = attention.packed_row;
    assert(shape.head_dim <= kMaxHeadDim && "heads fit into shared memory");
    if (const auto& how = attention.dropout)
        shape.dropped = {how->dropout.stream.seed, how->dropout.stream.id,
                         how->dropout.threshold(), static_cast<float>(how->dropout.scale()),
                         how->all_heads,           how->all_positions,
                         how->first_sample,        how->first_head};
    return shape;
}

}  // namespace

void CudaKernels::split_heads_forward(std::int64_t first_row, ConstTensorView packed, TensorView q,
                                      TensorView k, TensorView v) {
    const PackedStrides at(q, k, first_row);
    const Stream stream = queue_.stream();
    copy_rows(stream, at.of_queries(), in(packed), at.packed(0), out(q), at.queries());
    copy_rows(stream, at.of_keys(), in(packed), at.packed(at.query), out(k), at.keys());
    copy_rows(stream, at.of_keys(), in(packed), at.packed(at.query + at.key), out(v), at.keys());
}

void CudaKernels::split_heads_backward_input(std::int64_t first_row, ConstTensorView dq,
                                             ConstTensorView dk, ConstTensorView dv,
                                             TensorView dpacked) {
    const PackedStrides at(dq, dk, first_row);
    const Stream stream = queue_.stream();
    copy_rows(stream, at.of_queries(), in(dq), at.queries(), out(dpacked), at.packed(0));
    copy_rows(stream, at.of_keys(), in(dk), at.keys(), out(dpacked), at.packed(at.query));
    copy_rows(stream, at.of_keys(), in(dv), at.keys(), out(dpacked), at.packed(at.query + at.key));
}

void CudaKernels::rope_forward(std::int64_t first_position, std::int64_t heads,
                               ConstTensorView cosines, ConstTensorView sines, TensorView x) {
    rotate(queue_.stream(), rotation_of(x, heads, first_position, 1), elements<float>(cosines),
           elements<float>(sines), out(x));
}

void CudaKernels::rope_backward_input(std::int64_t first_position, std::int64_t heads,
                                      ConstTensorView cosines, ConstTensorView sines,
                                      TensorView dx) {
    rotate(queue_.stream(), rotation_of(dx, heads, first_position, -1), elements<float>(cosines),
           elements<float>(sines), out(dx));
}

void CudaKernels::attention_forward(const Attention& attention, ConstTensorView q,
                                    ConstTensorView k, ConstTensorView v, TensorView result,
                                    TensorView log_sum) {
    const AttentionShape shape = shape_of(attention, q, k);
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
    const AttentionShape shape = shape_of(attention, q, k);
    const Stream stream = queue_.stream();
    const auto* const sums = elements<float>(log_sum);
    if (attention_ && attention_->backward(stream, shape, in(dout), in(q), in(k), in(v), in(result),
                                           sums, out(dq), out(dk), out(dv)))
        return;
    cuda::attention_backward_input(stream, shape, in(dout), in(q), in(k), in(v), in(result), sums,
                                   scratch_.floats(log_sum.shape.elements()), out(dq), out(dk),
                                   out(dv));
}

}  // namespace debubble::exec::cuda
