#include "exec/cuda/kernels/heads.h"

#include "exec/core/kernels/attention.h"
#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/kernels/layers.h"
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

Rotation rotation_of(const TensorView& x, const Rotary& how, const ConstTensorView& cosines,
                     float direction) {
    assert(x.shape.rank() == 4 && how.heads <= x.shape[2] && "x [samples, rows, heads, head_dim]");
    return {x.shape[0],
            x.shape[1],
            x.shape[2],
            how.heads,
            x.shape[3],
            how.first_position,
            how.first_column,
            cosines.shape.columns(),
            how.pairs == RotaryPairs::Neighbours,
            direction};
}

NormedHeads normed_of(const HeadRun& run, const ConstTensorView& x, const ConstTensorView& kept,
                      const ConstTensorView& statistics) {
    return {rows_of(x),     run.heads,         run.head_dim,         run.first_column,
            run.first_head, x.shape.columns(), kept.shape.columns(), statistics.shape.columns(),
            run.gap,        run.gaps_before};
}

/// A run whose columns are normalised together.
NormedHeads as_one_head(HeadRun run, const ConstTensorView& x, const ConstTensorView& kept,
                        const ConstTensorView& statistics) {
    run.head_dim *= run.heads;
    run.heads = 1;
    return normed_of(run, x, kept, statistics);
}

LatentShape latent_of(std::int64_t first_position, const ConstTensorView& cosines,
                      const ConstTensorView& q, const ConstTensorView& v,
                      const ConstTensorView& shared) {
    const std::int64_t pairs = cosines.shape.columns();
    return {q.shape[0],
            q.shape[1],
            q.shape[2],
            q.shape[3] - 2 * pairs,
            pairs,
            v.shape[3],
            shared.shape.columns(),
            first_position};
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

void CudaKernels::rope_forward(const Rotary& how, ConstTensorView cosines, ConstTensorView sines,
                               TensorView x) {
    rotate(queue_.stream(), rotation_of(x, how, cosines, 1), elements<float>(cosines),
           elements<float>(sines), out(x));
}

void CudaKernels::rope_backward_input(const Rotary& how, ConstTensorView cosines,
                                      ConstTensorView sines, TensorView dx) {
    rotate(queue_.stream(), rotation_of(dx, how, cosines, -1), elements<float>(cosines),
           elements<float>(sines), out(dx));
}

void CudaKernels::head_norm_forward(double eps, const HeadRun& run, ConstTensorView gain,
                                    TensorView x, TensorView kept, TensorView statistics) {
    cuda::head_norm_forward(queue_.stream(), normed_of(run, x, kept, statistics),
                            static_cast<float>(eps), in(gain), out(x), out(kept),
                            elements<float>(statistics));
}

void CudaKernels::head_norm_backward(const HeadRun& run, ConstTensorView gain, ConstTensorView kept,
                                     ConstTensorView statistics, TensorView dx, TensorView dgain) {
    const NormedHeads how = normed_of(run, dx, kept, statistics);
    if (dgain)
        head_norm_backward_weight(
            queue_.stream(), how, in(kept), elements<float>(statistics), in(dx),
            scratch_.floats(chunks_of(how.tokens * how.heads) * how.head_dim), out(dgain));
    head_norm_backward_input(queue_.stream(), how, in(gain), in(kept), elements<float>(statistics),
                             out(dx));
}

void CudaKernels::width_norm_sums(const HeadRun& run, ConstTensorView x, TensorView sums) {
    cuda::width_norm_sums(queue_.stream(), as_one_head(run, x, x, sums), in(x),
                          elements<float>(sums));
}

void CudaKernels::width_norm_forward(double eps, std::int64_t columns, const HeadRun& run,
                                     ConstTensorView gain, ConstTensorView sums, TensorView x,
                                     TensorView kept, TensorView statistics) {
    cuda::width_norm_forward(queue_.stream(), as_one_head(run, x, kept, statistics),
                             static_cast<float>(eps), columns, in(gain), elements<float>(sums),
                             out(x), out(kept), elements<float>(statistics));
}

void CudaKernels::width_norm_gradient_sums(const HeadRun& run, ConstTensorView gain,
                                           ConstTensorView kept, ConstTensorView dy,
                                           TensorView sums) {
    cuda::width_norm_gradient_sums(queue_.stream(), as_one_head(run, dy, kept, sums), in(gain),
                                   in(kept), in(dy), elements<float>(sums));
}

void CudaKernels::width_norm_backward(std::int64_t columns, const HeadRun& run,
                                      ConstTensorView gain, ConstTensorView kept,
                                      ConstTensorView statistics, ConstTensorView sums,
                                      TensorView dx, TensorView dgain) {
    const NormedHeads how = as_one_head(run, dx, kept, statistics);
    head_norm_backward_weight(queue_.stream(), how, in(kept), elements<float>(statistics), in(dx),
                              scratch_.floats(chunks_of(how.tokens) * how.head_dim), out(dgain));
    width_norm_backward_input(queue_.stream(), how, columns, in(gain), in(kept),
                              elements<float>(statistics), elements<float>(sums), out(dx));
}

void CudaKernels::grow_queries(const QueryGrowth& how, TensorView x) {
    assert(x.shape.rank() == 4 && "x [samples, rows, heads, head_dim]");
    cuda::grow_queries(
        queue_.stream(),
        {x.shape[0], x.shape[1], x.shape[2], how.heads, x.shape[3], how.first_position,
         static_cast<float>(how.floor), static_cast<float>(how.scale)},
        out(x));
}

void CudaKernels::latent_heads_forward(std::int64_t first_position, ConstTensorView cosines,
                                       ConstTensorView sines, ConstTensorView queries,
                                       ConstTensorView keys_values, ConstTensorView shared,
                                       TensorView q, TensorView k, TensorView v) {
    cuda::latent_heads_forward(queue_.stream(), latent_of(first_position, cosines, q, v, shared),
                               elements<float>(cosines), elements<float>(sines), in(queries),
                               in(keys_values), in(shared), out(q), out(k), out(v));
}

void CudaKernels::latent_heads_backward_input(std::int64_t first_position, ConstTensorView cosines,
                                              ConstTensorView sines, ConstTensorView dq,
                                              ConstTensorView dk, ConstTensorView dv,
                                              TensorView dqueries, TensorView dkeys_values,
                                              TensorView dshared) {
    cuda::latent_heads_backward_input(
        queue_.stream(), latent_of(first_position, cosines, dq, dv, dshared),
        elements<float>(cosines), elements<float>(sines), in(dq), in(dk), in(dv), out(dqueries),
        out(dkeys_values), out(dshared));
}

}  // namespace debubble::exec::cuda
