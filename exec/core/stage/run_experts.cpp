#include "exec/core/stage/linear_call.h"

/// A mixture of experts whose rank has all of them: rows are sorted by expert, and every expert
/// multiplies its own, as many as came.
namespace debubble::exec {

namespace {

constexpr const char* kWeights = "experts.router.out";

/// The router's, fp32 [tokens, experts].
TensorView weights_of(const OperatorCall& call, const std::vector<int>& uses,
                      const char* name = kWeights) {
    return call.tensor(call.named(uses, name), {call.stream_tokens(), call.model().experts},
                       DataType::Fp32);
}

TensorView rows_of(const OperatorCall& call, int index, std::int64_t columns) {
    return call.tensor(index, {call.expert_rows(), columns});
}

struct RouterCall {
    const OperatorCall& call;
    Shape shape{call.stream_tokens(), call.model().experts};
    TensorView weight = call.parameter(call.op.parameters[0]);

    TensorView x() const { return call.stream(call.op.inputs[0]); }
    TensorView gradient() const {
        return call.tensor(call.op.output_gradient, shape, DataType::Fp32);
    }
    /// The gradient of the logits, which has taken that of the weights' place, to multiply with.
    TensorView logits_gradient(const std::vector<int>& uses) const {
        const TensorView narrow = call.tensor(call.named(uses, "d.experts.router.logits"), shape);
        call.kernels().copy(gradient(), narrow);
        return narrow;
    }
};

std::array<int, 3> key_of(const OperatorCall& call) {
    return {call.micro_batch, call.slice, call.op.layer.value_or(0)};
}

/// Where each expert's rows begin, as the microbatch's dispatch found.
const std::vector<std::int64_t>& first_rows_of(const OperatorCall& call) {
    return call.state.first_rows.at(key_of(call));
}

struct ExpertProducts {
    const OperatorCall& call;
    LinearCall linear{call};  ///< its weights are [experts x outputs, inputs]
    std::int64_t outputs = linear.outputs / call.model().experts;  ///< of one expert

    TensorView x() const { return rows_of(call, call.op.inputs[0], linear.inputs); }
    TensorView y() const { return rows_of(call, call.op.outputs[0], outputs); }
    TensorView dy() const { return rows_of(call, call.op.output_gradient, outputs); }
    TensorView dx() const { return rows_of(call, call.op.input_gradient, linear.inputs); }
};

/// Rows that are sorted already are only moved.
bool permutes(const OperatorCall& call) {
    return call.op.inputs.size() > 1;
}

}  // namespace

void router_forward(const OperatorCall& call) {
    const RouterCall router{call};
    const TensorView logits =
        call.tensor(call.named(call.op.forward_uses, "experts.router.logits"), router.shape);
    call.kernels().linear_forward(WeightLayout::OutputsInputs, router.x(), router.weight, {},
                                  logits);
    call.kernels().route_forward(call.model().experts_per_token, logits,
                                 weights_of(call, call.op.outputs));
}

void router_backward_input(const OperatorCall& call) {
    const RouterCall router{call};
    call.kernels().route_backward_input(router.gradient(), weights_of(call, call.op.saved),
                                        router.gradient());
    const TensorView part =
        call.stream(call.named(call.op.backward_input_uses, "d.experts.router.in"));
    call.kernels().linear_backward_input(WeightLayout::OutputsInputs,
                                         router.logits_gradient(call.op.backward_input_uses),
                                         router.weight, part, Write::Overwrite);
    call.kernels().add(part, call.stream(call.op.input_gradient));
}

void router_backward_weight(const OperatorCall& call) {
    const RouterCall router{call};
    call.kernels().linear_backward_weight(WeightLayout::OutputsInputs, router.x(),
                                          router.logits_gradient(call.op.backward_weight_uses),
                                          call.gradient(call.op.parameters[0]), {});
}

void dispatch_forward(const OperatorCall& call) {
    const int from = call.op.inputs[0], to = call.op.outputs[0];
    const std::int64_t hidden = call.model().hidden;
    if (!permutes(call))
        return call.kernels().copy(rows_of(call, from, hidden), rows_of(call, to, hidden));
    const TensorView weights = weights_of(call, call.op.forward_uses);
    call.kernels().permute_forward(weights, call.stream(from), rows_of(call, to, hidden));
    if (call.again) return;  // they are the same
    call.state.first_rows[key_of(call)] = call.kernels().first_rows_of_experts(weights);
}

void dispatch_backward_input(const OperatorCall& call) {
    const int from = call.op.output_gradient, to = call.op.input_gradient;
    const std::int64_t hidden = call.model().hidden;
    if (!permutes(call))
        return call.kernels().copy(rows_of(call, from, hidden), rows_of(call, to, hidden));
    call.kernels().permute_backward_input(weights_of(call, call.op.backward_input_uses),
                                          rows_of(call, from, hidden), call.stream(to));
}

void experts_forward(const OperatorCall& call) {
    const ExpertProducts experts{call};
    call.kernels().experts_forward(first_rows_of(call), experts.x(), experts.linear.weight,
                                   experts.y());
}

void experts_backward_input(const OperatorCall& call) {
    const ExpertProducts experts{call};
    call.kernels().experts_backward_input(first_rows_of(call), experts.dy(), experts.linear.weight,
                                          experts.dx());
}

void experts_backward_weight(const OperatorCall& call) {
    const ExpertProducts experts{call};
    call.kernels().experts_backward_weight(first_rows_of(call), experts.x(), experts.dy(),
                                           experts.linear.weight_gradient());
}

void combine_forward(const OperatorCall& call) {
    call.kernels().combine_forward(weights_of(call, call.op.inputs),
                                   rows_of(call, call.op.inputs[0], call.model().hidden),
                                   call.stream(call.op.outputs[0]));
}

void combine_backward_input(const OperatorCall& call) {
    const std::int64_t hidden = call.model().hidden;
    call.kernels().combine_backward_input(
        weights_of(call, call.op.inputs), call.stream(call.op.output_gradient),
        rows_of(call, call.op.inputs[0], hidden), rows_of(call, call.op.input_gradient, hidden),
        weights_of(call, call.op.backward_input_uses, "d.experts.router.out"));
}

}  // namespace debubble::exec
