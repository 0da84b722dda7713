#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "models/graph/lifetimes.h"
#include "models/graph/operator_runs.h"

/// One rule gives all steps: the operators' passes are put into the order of execution, and a
/// tensor lives from its first use to its last.
namespace debubble::models {

namespace {

bool is_collective(const Kernel& kernel) {
    return std::holds_alternative<Collective>(kernel.work);
}

void hide(std::vector<Kernel>& kernels, std::size_t collective, std::size_t by) {
    std::get<Collective>(kernels[collective].work).hidden_by = static_cast<int>(by);
}

/// A fused backward hides communication: the weight gradient's gather runs during the input
/// gradient's product, and the input gradient's reduction during the weight gradient's
/// (Megatron-LM's LinearWithGradAccumulationAndAsyncCommunication).
void interleave(const Operator& op, std::vector<Kernel>& input, std::vector<Kernel>& weight) {
    if (op.as<op::Linear>() == nullptr) return;
    if (input.empty() || weight.empty()) return;
    if (is_collective(input.back())) {
        const auto products = std::count_if(weight.begin(), weight.end(),
                                            [](const Kernel& k) { return !is_collective(k); });
        hide(input, input.size() - 1, products);
    }
    if (is_collective(weight.front())) {
        const auto product = std::find_if(input.begin(), input.end(), [](const Kernel& kernel) {
            return std::holds_alternative<Gemm>(kernel.work);
        });
        if (product == input.end()) return;
        const auto at = input.insert(product, std::move(weight.front()));
        hide(input, at - input.begin(), 1);
        weight.erase(weight.begin());
    }
}

bool makes_dense_gradients(const StageGraph& graph, const OperatorUse& use) {
    if (use.part != Part::Fused && use.part != Part::Weight) return false;
    return std::ranges::any_of(use.op->parameters, [&](int index) {
        const Parameter& parameter = graph.parameters[index];
        return !parameter.expert && !parameter.frozen;
    });
}

/// The kernels of a part that is not fused are in the operator as they run.
const std::vector<Kernel>* kernels_as_listed(const Operator& op, Part part) {
    switch (part) {
        case Part::Forward: return &op.forward;
        case Part::Again: return op.again ? &*op.again : &op.forward;
        case Part::Input: return &op.backward_input;
        case Part::Weight: return &op.backward_weight;
        case Part::Fused: break;
    }
    return nullptr;
}

TurnPart turn_part_of(const OperatorUse& use) {
    if (!use.op->layer) return TurnPart::Outside;
    if (use.part == Part::Weight) return TurnPart::Weights;
    const auto* moved = use.op->as<op::Dispatch>();
    const bool asks = moved != nullptr && moved->kind == op::Dispatch::Kind::Exchange;
    return asks ? TurnPart::Asks : TurnPart::Computes;
}

/// Notes that the steps up to here are of the use. Tensors that an all-to-all frees are freed after
/// it, by the next steps.
void note_turn(PassSteps& pass, const OperatorUse& use, std::size_t end) {
    const TurnPart part = turn_part_of(use);
    const int layer = use.op->layer.value_or(-1);
    if (pass.turns.empty() || pass.turns.back().part != part || pass.turns.back().layer != layer)
        pass.turns.push_back({part, layer, end});
    pass.turns.back().end = end;
}

PassSteps plan(const StageGraph& graph, const std::vector<OperatorUse>& uses,
               const Lifetimes& lifetimes, int which) {
    PassSteps pass;
    bool beside = false;
    for (std::size_t at = 0; at < uses.size(); ++at) {
        const OperatorUse& use = uses[at];
        if (use.pass != which) continue;
        if (pass.kernels.empty()) pass.kernels.reserve(2 * (uses.size() - at));
        const bool dense = makes_dense_gradients(graph, use);
        beside = beside || !use.op->layer;
        for (const int tensor : lifetimes.born.at(at))
            pass.steps.push_back({Step::Kind::Allocate, tensor});
        const auto run = [&](Kernel kernel) {
            pass.steps.push_back({Step::Kind::Run, static_cast<std::int32_t>(pass.kernels.size())});
            pass.kernels.push_back(std::move(kernel));
            pass.operators.push_back(static_cast<std::int32_t>(use.op - graph.operators.data()));
            pass.makes_dense_gradients.push_back(dense);
            pass.after_beside.push_back(std::exchange(beside, false));
        };
        if (use.reads_copy())
            for (const Kernel& kernel : use.op->kept_copy->again) run(kernel);
        else if (const std::vector<Kernel>* listed = kernels_as_listed(*use.op, use.part))
            for (const Kernel& kernel : *listed) run(kernel);
        else
            for (Kernel& kernel : kernels_of(*use.op, use.part)) run(std::move(kernel));
        const std::size_t ran = pass.steps.size();
        for (const int tensor : lifetimes.dies.at(at))
            pass.steps.push_back({Step::Kind::Free, tensor});
        const bool asks = turn_part_of(use) == TurnPart::Asks;
        note_turn(pass, use, asks ? ran : pass.steps.size());
    }
    return pass;
}

PassSteps steps_of_pass(const StageGraph& graph, bool split, int pass) {
    const std::vector<OperatorUse> uses = uses_of(graph, split);
    return plan(graph, uses, Lifetimes(graph, uses), pass);
}

}  // namespace

bool delays_weight(const Operator& op) {
    return op.layer && (op.as<op::Linear>() != nullptr || op.as<op::ExpertProducts>() != nullptr);
}

bool weight_is_of_experts(const Operator& op) {
    return op.as<op::ExpertProducts>() != nullptr || op.modules.has(Module::Mlp);
}

std::vector<Kernel> kernels_of(const Operator& op, Part part) {
    if (const std::vector<Kernel>* listed = kernels_as_listed(op, part)) return *listed;
    std::vector<Kernel> kernels;
    kernels.reserve(op.backward_input.size() + op.backward_weight.size());
    kernels.assign(op.backward_input.begin(), op.backward_input.end());
    std::vector<Kernel> weight = op.backward_weight;
    interleave(op, kernels, weight);
    std::move(weight.begin(), weight.end(), std::back_inserter(kernels));
    return kernels;
}

RunsByPass operator_runs(const StageGraph& graph, bool split) {
    const std::vector<OperatorUse> uses = uses_of(graph, split);
    const Lifetimes lifetimes(graph, uses);
    const auto copy = [](std::span<const int> tensors) {
        return std::vector<int>(tensors.begin(), tensors.end());
    };
    RunsByPass passes;
    for (std::size_t at = 0; at < uses.size(); ++at) {
        passes[uses[at].pass].push_back({static_cast<int>(uses[at].op - graph.operators.data()),
                                         uses[at].part, copy(lifetimes.born.at(at)),
                                         copy(lifetimes.dies.at(at)), copy(lifetimes.leaves.at(at)),
                                         copy(lifetimes.returns.at(at))});
    }
    return passes;
}

std::vector<bool> left_to_other_passes(const StageGraph& graph) {
    const std::vector<OperatorUse> uses = uses_of(graph, true);
    const Lifetimes lifetimes(graph, uses);
    std::vector<bool> left(graph.tensors.size());
    std::vector<int> alive(graph.tensors.size());
    for (std::size_t at = 0; at < uses.size(); ++at) {
        for (const int tensor : lifetimes.born.at(at)) ++alive[tensor];
        for (const int tensor : lifetimes.dies.at(at)) --alive[tensor];
        if (at + 1 < uses.size() && uses[at + 1].pass == uses[at].pass) continue;
        for (std::size_t tensor = 0; tensor < alive.size(); ++tensor)
            if (std::exchange(alive[tensor], 0) != 0) left[tensor] = true;
    }
    return left;
}

std::array<PassSteps, 3> steps_of(const StageGraph& graph, bool split) {
    const std::vector<OperatorUse> uses = uses_of(graph, split);
    const Lifetimes lifetimes(graph, uses);
    return {plan(graph, uses, lifetimes, 0), plan(graph, uses, lifetimes, 1),
            plan(graph, uses, lifetimes, 2)};
}

PassSteps forward_steps(const StageGraph& graph) {
    return steps_of_pass(graph, false, 0);
}

PassSteps backward_steps(const StageGraph& graph) {
    return steps_of_pass(graph, false, 1);
}

PassSteps backward_input_steps(const StageGraph& graph) {
    return steps_of_pass(graph, true, 1);
}

PassSteps backward_weight_steps(const StageGraph& graph) {
    return steps_of_pass(graph, true, 2);
}

}  // namespace debubble::models
