#include "exec/core/stage/pairs.h"

#include <algorithm>

namespace debubble::exec {

namespace {

using models::Operator;
using models::OperatorKind;
using models::Part;
using models::Visit;

bool contains(const std::vector<int>& list, int tensor) {
    return std::ranges::find(list, tensor) != list.end();
}

bool is_forward(Part part) {
    return part == Part::Forward || part == Part::Again;
}
bool is_backward(Part part) {
    return part == Part::Fused || part == Part::Input;
}

/// Whether tensor parallelism leaves the product's results as they are: nothing is summed over
/// ranks behind it. A product whose inputs are cut gives sums of its own rank only.
bool gives_its_own(const models::StageGraph& graph, const Operator& linear, bool backward) {
    if (graph.execution.tensor == 1) return true;
    const models::Sharding sharding = graph.parameters[linear.parameters[0]].sharding;
    return sharding == (backward ? models::Sharding::Row : models::Sharding::Column);
}

/// GELU is fused with the tanh in it: what cuBLASLt has.
bool is_fused_activation(const models::StageGraph& graph, const Operator& op) {
    return op.kind == OperatorKind::Activation && graph.architecture.experts == 0 &&
           graph.architecture.activation == models::Activation::GeluTanh;
}

std::optional<VisitPair> linear_activation(const models::StageGraph& graph, const Visit& first,
                                           const Visit& second) {
    const Operator& linear = graph.operators[first.op];
    const Operator& activation = graph.operators[second.op];
    if (linear.kind != OperatorKind::Linear || !is_fused_activation(graph, activation) ||
        activation.inputs[0] != linear.outputs[0] || !gives_its_own(graph, linear, false))
        return {};
    if (!first.frees.empty()) return {};  // it would live beside the second's result
    return VisitPair{VisitPair::Kind::LinearActivation};
}

/// The product's result is overwritten by the nonlinearity's, so that it need not be made.
std::optional<VisitPair> activation_linear(const models::StageGraph& graph, const Visit& first,
                                           const Visit& second) {
    const Operator& linear = graph.operators[first.op];
    const Operator& activation = graph.operators[second.op];
    if (linear.kind != OperatorKind::Linear || !is_fused_activation(graph, activation) ||
        activation.output_gradient != linear.input_gradient ||
        activation.input_gradient != linear.input_gradient || !gives_its_own(graph, linear, true))
        return {};
    return VisitPair{VisitPair::Kind::ActivationLinear};
}

std::optional<VisitPair> residual_norm(const models::StageGraph& graph, const Visit& first,
                                       const Visit& second, bool drops) {
    const Operator& residual = graph.operators[first.op];
    const Operator& norm = graph.operators[second.op];
    if (drops || residual.kind != OperatorKind::Residual || norm.kind != OperatorKind::Norm ||
        norm.inputs[0] != residual.outputs[0])
        return {};
    const int branch = residual.inputs[1], y = norm.outputs[0];
    const models::Tensor &from = graph.tensors[branch], &to = graph.tensors[y];
    if (first.frees != std::vector{branch} || !contains(second.allocates, y) ||
        from.bytes != to.bytes || from.held_as != to.held_as)
        return {};
    return VisitPair{VisitPair::Kind::ResidualNorm, branch, y};
}

}  // namespace

std::optional<VisitPair> pair_at(const models::StageGraph& graph, std::span<const Visit> visits,
                                 std::size_t at, bool drops) {
    if (at + 1 >= visits.size() || visits[at].part != visits[at + 1].part) return {};
    const Visit &first = visits[at], &second = visits[at + 1];
    if (is_forward(first.part)) {
        if (const auto pair = linear_activation(graph, first, second)) return pair;
        return residual_norm(graph, first, second, drops);
    }
    return is_backward(first.part) ? activation_linear(graph, first, second) : std::nullopt;
}

}  // namespace debubble::exec
