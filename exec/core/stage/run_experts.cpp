#include "base/check.h"
#include "exec/core/stage/linear_call.h"

/// A mixture of experts whose rank has all of them: rows are sorted by expert, and every expert
/// multiplies as many of its own as there are.
namespace debubble::exec {

namespace {

/// The router's weights, or their gradient: fp32 [tokens, experts].
TensorView weights_at(const OperatorCall& call, int index) {
    return call.tensor(index, {call.stream_tokens(), call.experts().count}, DataType::Fp32);
}

TensorView rows_of(const OperatorCall& call, int index, std::int64_t columns) {
    return call.tensor(index, {call.expert_rows(), columns});
}

std::array<int, 3> key_of(const OperatorCall& call) {
    return {call.micro_batch, call.slice, call.op.layer.value_or(0)};
}

/// The first row of each expert, which the microbatch's dispatch has found.
const std::vector<std::int64_t>& first_rows_of(const OperatorCall& call) {
    return call.state.first_rows.at(key_of(call));
}

struct ExpertsCall {
    const OperatorCall& call;
    const op::ExpertProducts& products;

    TensorView x() const { return rows_of(call, products.x.tensor, products.inputs); }
    TensorView y() const { return rows_of(call, products.y.tensor, products.outputs); }
    TensorView dy() const { return rows_of(call, products.y.gradient, products.outputs); }
    TensorView dx() const { return rows_of(call, products.x.gradient, products.inputs); }
    /// The weights of all experts, [experts x outputs, inputs].
    TensorView weight() const { return values_side_by_side(call, products.weights); }
    TensorView weight_gradient() const { return gradients_side_by_side(call, products.weights); }
};

}  // namespace

void forward(const OperatorCall& call, const op::Permute& roles) {
    const TensorView weights = weights_at(call, roles.weights);
    call.kernels().permute_forward(weights, call.stream(roles.tokens.tensor),
                                   rows_of(call, roles.rows.tensor, call.model().hidden));
    if (call.again) return;  // they have not changed
    call.state.first_rows[key_of(call)] = call.kernels().first_rows_of_experts(weights);
}

void backward_input(const OperatorCall& call, const op::Permute& roles) {
    call.kernels().permute_backward_input(weights_at(call, roles.weights),
                                          rows_of(call, roles.rows.gradient, call.model().hidden),
                                          call.stream(roles.tokens.gradient));
}

/// Rows that are sorted already are only moved.
void forward(const OperatorCall& call, const op::Dispatch& roles) {
    const std::int64_t hidden = call.model().hidden;
    call.kernels().copy(rows_of(call, roles.x.tensor, hidden),
                        rows_of(call, roles.y.tensor, hidden));
}

void backward_input(const OperatorCall& call, const op::Dispatch& roles) {
    const std::int64_t hidden = call.model().hidden;
    call.kernels().copy(rows_of(call, roles.y.gradient, hidden),
                        rows_of(call, roles.x.gradient, hidden));
}

void forward(const OperatorCall& call, const op::ExpertProducts& roles) {
    const ExpertsCall experts{call, roles};
    call.kernels().experts_forward(first_rows_of(call), experts.x(), experts.weight(), experts.y());
}

void backward_input(const OperatorCall& call, const op::ExpertProducts& roles) {
    const ExpertsCall experts{call, roles};
    call.kernels().experts_backward_input(first_rows_of(call), experts.dy(), experts.weight(),
                                          experts.dx());
}

void backward_weight(const OperatorCall& call, const op::ExpertProducts& roles) {
    const ExpertsCall experts{call, roles};
    call.kernels().experts_backward_weight(first_rows_of(call), experts.x(), experts.dy(),
                                           experts.weight_gradient());
}

void forward(const OperatorCall& call, const op::Combine& roles) {
    DEBUBBLE_CHECK(roles.weighed, "the executor weighs rows where it combines them");
    call.kernels().combine_forward(weights_at(call, roles.weighed->weights.tensor),
                                   rows_of(call, roles.rows.tensor, call.model().hidden),
                                   call.stream(roles.y.tensor));
}

void backward_input(const OperatorCall& call, const op::Combine& roles) {
    const std::int64_t hidden = call.model().hidden;
    const op::Value weights = roles.weighed->weights;
    call.kernels().combine_backward_input(
        weights_at(call, weights.tensor), call.stream(roles.y.gradient),
        rows_of(call, roles.rows.tensor, hidden), rows_of(call, roles.rows.gradient, hidden),
        weights_at(call, weights.gradient));
}

}  // namespace debubble::exec
