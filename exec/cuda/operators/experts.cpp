#include "exec/cuda/kernels/experts.h"

#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/operators/views.h"

/// Only the device knows the number of rows of each expert: a caller that downloads it waits for
/// all earlier work, as Megatron-Core's dispatcher does. Nothing here waits.
namespace debubble::exec::cuda {

namespace {

ExpertShape shape_of(const ConstTensorView& weights, std::int64_t hidden) {
    return {rows_of(weights), weights.shape.columns(), hidden};
}

/// The places of the rows, recomputed by each caller: that is cheaper than keeping them.
ExpertPlaces placed(Stream stream, Scratch& scratch, const ExpertShape& shape,
                    const ConstTensorView& weights) {
    auto* const memory = static_cast<int*>(
        scratch.bytes((shape.experts + 1 + shape.tokens * shape.experts) * std::int64_t{4}));
    const ExpertPlaces at{memory, memory + shape.experts + 1};
    place_rows(stream, shape, elements<float>(weights), at);
    return at;
}

}  // namespace

void CudaKernels::first_rows_of_experts(ConstTensorView weights, TensorView first_rows) {
    const ExpertPlaces at = placed(queue_.stream(), scratch_, shape_of(weights, 0), weights);
    queue_.copy(reinterpret_cast<const std::byte*>(at.first), first_rows.data, first_rows.bytes());
}

void CudaKernels::permute_forward(ConstTensorView weights, ConstTensorView x, TensorView rows) {
    const ExpertShape shape = shape_of(weights, x.shape.columns());
    const ExpertPlaces at = placed(queue_.stream(), scratch_, shape, weights);
    cuda::permute_forward(queue_.stream(), shape, elements<float>(weights), at, in(x), out(rows));
}

void CudaKernels::permute_backward_input(ConstTensorView weights, ConstTensorView drows,
                                         TensorView dx) {
    const ExpertShape shape = shape_of(weights, dx.shape.columns());
    const ExpertPlaces at = placed(queue_.stream(), scratch_, shape, weights);
    cuda::permute_backward(queue_.stream(), shape, elements<float>(weights), at, in(drows),
                           out(dx));
}

void CudaKernels::combine_forward(ConstTensorView weights, ConstTensorView rows, TensorView y) {
    const ExpertShape shape = shape_of(weights, y.shape.columns());
    const ExpertPlaces at = placed(queue_.stream(), scratch_, shape, weights);
    cuda::combine_forward(queue_.stream(), shape, elements<float>(weights), at, in(rows), out(y));
}

void CudaKernels::combine_backward_input(ConstTensorView weights, ConstTensorView dy,
                                         ConstTensorView rows, TensorView drows,
                                         TensorView dweights) {
    const ExpertShape shape = shape_of(weights, dy.shape.columns());
    const ExpertPlaces at = placed(queue_.stream(), scratch_, shape, weights);
    cuda::combine_backward(queue_.stream(), shape, elements<float>(weights), at, in(dy), in(rows),
                           out(drows), dweights ? elements<float>(dweights) : nullptr);
}

}  // namespace debubble::exec::cuda
