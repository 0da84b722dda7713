#include "exec/cuda/kernels/experts.h"

#include "base/check.h"
#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/geometry.h"
#include "exec/cuda/kernels/layers.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

namespace {

Score score_of(RouterScore score) {
    switch (score) {
        case RouterScore::Softmax: return Score::Softmax;
        case RouterScore::PreSoftmax: return Score::PreSoftmax;
        case RouterScore::Sigmoid: return Score::Sigmoid;
    }
    return Score::Softmax;
}

/// `x` is [tokens, experts].
RouteShape shape_of(const ConstTensorView& x, RouterScore score) {
    RouteShape shape;
    shape.tokens = rows_of(x);
    shape.experts = x.shape.columns();
    shape.score = score_of(score);
    return shape;
}

RouteShape shape_of(const ConstTensorView& x, const RouterChoice& choice) {
    DEBUBBLE_CHECK(choice.groups <= kMostExpertGroups, "a lane takes a group of experts");
    RouteShape shape = shape_of(x, choice.score);
    shape.chosen = choice.chosen;
    shape.groups = choice.groups;
    shape.groups_chosen = choice.groups_chosen;
    shape.renormalised = choice.renormalised;
    shape.scaling = static_cast<float>(choice.scaling);
    return shape;
}

LossFactors factors_of(const RouterLosses& losses) {
    return {static_cast<float>(losses.balance), static_cast<float>(losses.z)};
}

const float* elements_or_null(const ConstTensorView& x) {
    return x ? elements<float>(x) : nullptr;
}

}  // namespace

void CudaKernels::route_forward(const RouterChoice& choice, ConstTensorView logits,
                                ConstTensorView correction, TensorView weights) {
    cuda::route_forward(queue_.stream(), shape_of(logits, choice), in(logits),
                        elements_or_null(correction), elements<float>(weights));
}

void CudaKernels::route_backward_input(const RouterChoice& choice, ConstTensorView dweights,
                                       ConstTensorView weights, ConstTensorView logits,
                                       TensorView dlogits) {
    cuda::route_backward(queue_.stream(), shape_of(weights, choice), elements<float>(dweights),
                         elements<float>(weights), in(logits), elements<float>(dlogits));
}

void CudaKernels::drop_over_capacity(std::int64_t capacity, ConstTensorView weights,
                                     TensorView kept) {
    cuda::drop_over_capacity(queue_.stream(), shape_of(weights, RouterScore::Softmax), capacity,
                             elements<float>(weights), elements<float>(kept));
}

void CudaKernels::count_chosen(ConstTensorView weights, TensorView counts) {
    cuda::count_chosen(queue_.stream(), shape_of(weights, RouterScore::Softmax),
                       elements<float>(weights), elements<float>(counts));
}

void CudaKernels::router_losses_forward(const RouterLosses& losses, ConstTensorView logits,
                                        ConstTensorView counts, TensorView balance, TensorView z) {
    const RouteShape shape = shape_of(logits, losses.score);
    float* const values = scratch_.floats(2 * shape.tokens);
    cuda::router_losses_forward(queue_.stream(), shape, factors_of(losses), in(logits),
                                elements_or_null(counts), values, elements<double>(balance),
                                elements<double>(z));
}

void CudaKernels::router_losses_backward_input(const RouterLosses& losses, ConstTensorView logits,
                                               ConstTensorView counts, TensorView dlogits) {
    cuda::router_losses_backward(queue_.stream(), shape_of(logits, losses.score),
                                 factors_of(losses), in(logits), elements_or_null(counts),
                                 elements<float>(dlogits));
}

void CudaKernels::shared_gate_forward(ConstTensorView x, ConstTensorView weight,
                                      ConstTensorView branch, TensorView y, TensorView scores) {
    cuda::shared_gate_forward(queue_.stream(), rows_of(x), x.shape.columns(), in(x), in(weight),
                              in(branch), out(y), elements<float>(scores));
}

void CudaKernels::shared_gate_backward(ConstTensorView dy, ConstTensorView x,
                                       ConstTensorView weight, ConstTensorView branch,
                                       ConstTensorView scores, TensorView dbranch, TensorView dx,
                                       TensorView dweight) {
    const std::int64_t tokens = rows_of(x), hidden = x.shape.columns();
    float* const dlogits = scratch_.floats(tokens + chunks_of(tokens) * hidden);
    cuda::shared_gate_backward(queue_.stream(), tokens, hidden, in(dy), in(weight), in(branch),
                               elements<float>(scores), out(dbranch), out(dx), dlogits);
    add_weighted_column_sums(queue_.stream(), tokens, hidden, in(x), dlogits, dlogits + tokens,
                             out(dweight));
}

}  // namespace debubble::exec::cuda
