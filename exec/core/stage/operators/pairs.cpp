#include "exec/core/stage/operators/run_operator.h"

#include <algorithm>

namespace debubble::exec {

namespace op = models::op;

namespace {

using models::OperatorRun;
using models::Part;

bool contains(const std::vector<int>& list, int tensor) {
    return std::ranges::find(list, tensor) != list.end();
}

bool is_forward(Part part) {
    return part == Part::Forward || part == Part::Again;
}
bool is_backward(Part part) {
    return part == Part::Fused || part == Part::Input;
}

/// Whether the GEMM's results are complete on this rank: nothing is summed over ranks after it. A
/// GEMM whose inputs are cut gives partial sums.
bool gives_its_own(const models::StageGraph& graph, const op::Linear& linear, bool backward) {
    if (graph.execution.tensor == 1) return true;
    return linear.sharding == (backward ? models::Sharding::Row : models::Sharding::Column);
}

/// GELU is fused in its tanh form, which cuBLASLt has.
bool is_fused(const op::Activation& activation) {
    return activation.function == models::Activation::GeluTanh;
}

std::optional<OperatorPair> linear_activation(const models::StageGraph& graph,
                                              const OperatorRun& first, const OperatorRun& second) {
    const auto* linear = std::get_if<op::Linear>(&graph.operators[first.op].roles);
    const auto* activation = std::get_if<op::Activation>(&graph.operators[second.op].roles);
    if (linear == nullptr || activation == nullptr || !is_fused(*activation) ||
        activation->x.tensor != linear->y.tensor || !gives_its_own(graph, *linear, false))
        return {};
    if (!first.frees.empty()) return {};  // it would live at the same time as the second's result
    return OperatorPair{OperatorPair::Kind::LinearActivation};
}

/// The nonlinearity's result overwrites the GEMM's, which therefore need not be written.
std::optional<OperatorPair> activation_linear(const models::StageGraph& graph,
                                              const OperatorRun& first, const OperatorRun& second) {
    const auto* linear = std::get_if<op::Linear>(&graph.operators[first.op].roles);
    const auto* activation = std::get_if<op::Activation>(&graph.operators[second.op].roles);
    if (linear == nullptr || activation == nullptr || !is_fused(*activation) ||
        activation->y.gradient != linear->x_gradient ||
        activation->x.gradient != linear->x_gradient || !gives_its_own(graph, *linear, true))
        return {};
    return OperatorPair{OperatorPair::Kind::ActivationLinear};
}

std::optional<OperatorPair> residual_norm(const models::StageGraph& graph, const OperatorRun& first,
                                          const OperatorRun& second, bool drops) {
    const auto* residual = std::get_if<op::Residual>(&graph.operators[first.op].roles);
    const auto* norm = std::get_if<op::Norm>(&graph.operators[second.op].roles);
    if (drops || residual == nullptr || norm == nullptr || norm->x.tensor != residual->y) return {};
    const int branch = residual->branch, y = norm->y.tensor;
    const models::Tensor &from = graph.tensors[branch], &to = graph.tensors[y];
    if (first.frees != std::vector{branch} || !contains(second.allocates, y) ||
        from.bytes != to.bytes || from.held_as != to.held_as)
        return {};
    return OperatorPair{OperatorPair::Kind::ResidualNorm, OperatorPair::Reuse{branch, y}};
}

}  // namespace

std::optional<OperatorPair> pair_at(const models::StageGraph& graph,
                                    std::span<const OperatorRun> runs, std::size_t at, bool drops) {
    if (at + 1 >= runs.size() || runs[at].part != runs[at + 1].part) return {};
    const OperatorRun &first = runs[at], &second = runs[at + 1];
    if (is_forward(first.part)) {
        if (const auto pair = linear_activation(graph, first, second)) return pair;
        return residual_norm(graph, first, second, drops);
    }
    return is_backward(first.part) ? activation_linear(graph, first, second) : std::nullopt;
}

}  // namespace debubble::exec
