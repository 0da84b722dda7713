#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "models/offloads.h"
#include "models/operator_runs.h"
#include "models/replays.h"

/// One rule gives all steps: the operators' passes are put into the order of execution, and a
/// tensor lives from its first use to its last.
namespace debubble::models {

namespace {

/// An operator's run, before it is known which tensors live how long.
struct Use {
    const Operator* op;
    Part part;
    int pass;  ///< pass: 0 forward, 1 backward or backward-input, 2 backward-weight
    /// Of a run again, what it gives and something else keeps; empty if that is nothing.
    std::shared_ptr<const std::set<int>> kept = {};

    /// The tensors of the two halves of a fused backward, else one list and an empty one.
    std::array<std::span<const int>, 2> tensors() const {
        switch (part) {
            case Part::Forward:
            case Part::Again: return {op->forward_uses, {}};
            case Part::Input: return {op->backward_input_uses, {}};
            case Part::Weight: return {op->backward_weight_uses, {}};
            case Part::Fused: break;
        }
        return {op->backward_input_uses, op->backward_weight_uses};
    }
    /// A forward makes all of its tensors again except its inputs, and what other slices see.
    bool begins(const StageGraph& graph, int tensor) const {
        if (part != Part::Forward && part != Part::Again) return false;
        if (part == Part::Again && graph.tensors[tensor].slices == Across::Seen) return false;
        if (kept && kept->contains(tensor)) return false;
        return std::find(op->inputs.begin(), op->inputs.end(), tensor) == op->inputs.end();
    }
};

/// What a checkpoint gives and another operator keeps for its backward-weight, which comes after
/// the checkpoint has run again; a fused backward has come before it.
std::shared_ptr<const std::set<int>> kept_outside(const StageGraph& graph, const Replay& replay) {
    std::set<int> made;
    for (const int index : replay.operators) {
        const Operator& op = graph.operators[static_cast<std::size_t>(index)];
        made.insert(op.forward_uses.begin(), op.forward_uses.end());
    }
    auto kept = std::make_shared<std::set<int>>();
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (std::ranges::find(replay.operators, static_cast<int>(i)) != replay.operators.end())
            continue;
        for (const int tensor : graph.operators[i].backward_weight_uses)
            if (made.contains(tensor)) kept->insert(tensor);
    }
    return kept;
}

/// Forward, then the operators in reverse, each after what it needs again.
std::vector<Use> uses_of(const StageGraph& graph, bool split) {
    std::vector<Use> uses;
    const std::vector<Operator>& ops = graph.operators;
    for (const Operator& op : ops) uses.push_back({&op, Part::Forward, 0});
    const auto replays = replays_of(graph);
    for (std::size_t i = ops.size(); i-- > 0;) {
        for (const Replay& replay : replays[i]) {
            const auto kept = split && !replay.discards ? kept_outside(graph, replay) : nullptr;
            for (const int index : replay.operators)
                uses.push_back({&ops[static_cast<std::size_t>(index)], Part::Again, 1, kept});
        }
        uses.push_back({&ops[i], split ? Part::Input : Part::Fused, 1});
    }
    if (split) {
        for (std::size_t i = ops.size(); i-- > 0;) uses.push_back({&ops[i], Part::Weight, 2});
    }
    return uses;
}

/// When tensors that have gone to the host come back: with the first use in the backward of what
/// comes back before them, so that the copy has that long.
class Away {
public:
    Away(const StageGraph& graph, const std::vector<Use>& uses) {
        const std::vector<OffloadGroup> groups = offloads_of(graph);
        if (groups.empty()) return;
        group_.assign(graph.tensors.size(), -1);
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (const int tensor : groups[g].tensors)
                group_[static_cast<std::size_t>(tensor)] = static_cast<int>(g);
        std::vector<std::size_t> needed(groups.size(), uses.size());
        for (std::size_t at = uses.size(); at-- > 0 && uses[at].pass != 0;)
            for (const std::span<const int> list : uses[at].tensors())
                for (const int tensor : list)
                    if (group_[static_cast<std::size_t>(tensor)] >= 0)
                        needed[static_cast<std::size_t>(group_[static_cast<std::size_t>(tensor)])] =
                            at;
        begin_of_backward_ = static_cast<std::size_t>(
            std::ranges::find_if(uses, [](const Use& u) { return u.pass != 0; }) - uses.begin());
        for (const std::size_t mine : needed) {
            std::size_t before = begin_of_backward_;
            for (const std::size_t other : needed)
                if (other < mine) before = std::max(before, other);
            back_.push_back(before);
        }
    }
    /// The run with which the tensor is there again, if it is away between two of its uses.
    std::optional<std::size_t> back(int tensor, std::size_t last, std::size_t next) const {
        if (group_.empty() || group_[static_cast<std::size_t>(tensor)] < 0) return std::nullopt;
        if (last >= begin_of_backward_ || next < begin_of_backward_) return std::nullopt;
        return back_[static_cast<std::size_t>(group_[static_cast<std::size_t>(tensor)])];
    }

private:
    std::vector<int> group_;  ///< of each tensor; -1 for those that stay
    std::vector<std::size_t> back_;
    std::size_t begin_of_backward_ = 0;
};

/// The tensors that each operator's run allocates before its kernels and frees after them.
struct Lifetimes {
    std::vector<std::vector<int>> born;
    std::vector<std::vector<int>> dies;
    std::vector<std::vector<int>> leaves;   ///< those of `dies` that go to the host
    std::vector<std::vector<int>> returns;  ///< those of `born` that come back

    Lifetimes(const StageGraph& graph, const std::vector<Use>& uses)
        : born(uses.size()), dies(uses.size()), leaves(uses.size()), returns(uses.size()) {
        std::vector<std::optional<std::size_t>> last(graph.tensors.size());
        const Away away(graph, uses);
        const auto use = [&](int tensor, std::size_t at) {
            if (last[tensor] == at) return;  // named twice by one operator
            const bool begins = uses[at].begins(graph, tensor);
            const auto back = last[tensor] && !begins ? away.back(tensor, *last[tensor], at)
                                                      : std::optional<std::size_t>{};
            if (!last[tensor] || back || begins) {
                if (last[tensor]) dies[*last[tensor]].push_back(tensor);
                born[back.value_or(at)].push_back(tensor);
                if (back) {
                    leaves[*last[tensor]].push_back(tensor);
                    returns[*back].push_back(tensor);
                }
            }
            last[tensor] = at;
        };
        for (std::size_t at = 0; at < uses.size(); ++at) {
            for (const std::span<const int> list : uses[at].tensors()) {
                for (const int tensor : list) use(tensor, at);
            }
        }
        for (std::size_t tensor = 0; tensor < last.size(); ++tensor) {
            if (last[tensor]) dies[*last[tensor]].push_back(static_cast<int>(tensor));
        }
    }
};

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
        hide(input, input.size() - 1, static_cast<std::size_t>(products));
    }
    if (is_collective(weight.front())) {
        const auto product = std::find_if(input.begin(), input.end(), [](const Kernel& kernel) {
            return std::holds_alternative<Gemm>(kernel.work);
        });
        if (product == input.end()) return;
        const auto at = input.insert(product, std::move(weight.front()));
        hide(input, static_cast<std::size_t>(at - input.begin()), 1);
        weight.erase(weight.begin());
    }
}

bool makes_dense_gradients(const StageGraph& graph, const OperatorRun& run) {
    if (run.part != Part::Fused && run.part != Part::Weight) return false;
    return std::ranges::any_of(graph.operators[run.op].parameters, [&](int index) {
        const Parameter& parameter = graph.parameters[static_cast<std::size_t>(index)];
        return !parameter.expert && !parameter.frozen;
    });
}

PassSteps plan(const StageGraph& graph, const std::vector<OperatorRun>& runs) {
    PassSteps pass;
    bool beside = false;
    for (const OperatorRun& run : runs) {
        const bool dense = makes_dense_gradients(graph, run);
        beside = beside || !graph.operators[run.op].layer;
        for (const int tensor : run.allocates) {
            pass.steps.push_back({Step::Kind::Allocate, tensor});
        }
        for (Kernel& kernel : kernels_of(graph.operators[run.op], run.part)) {
            pass.steps.push_back({Step::Kind::Run, static_cast<std::int32_t>(pass.kernels.size())});
            pass.kernels.push_back(std::move(kernel));
            pass.makes_dense_gradients.push_back(dense);
            pass.after_beside.push_back(std::exchange(beside, false));
        }
        for (const int tensor : run.frees) pass.steps.push_back({Step::Kind::Free, tensor});
    }
    return pass;
}

}  // namespace

std::vector<Kernel> kernels_of(const Operator& op, Part part) {
    switch (part) {
        case Part::Forward: return op.forward;
        case Part::Again: return op.again.value_or(op.forward);
        case Part::Input: return op.backward_input;
        case Part::Weight: return op.backward_weight;
        case Part::Fused: break;
    }
    std::vector<Kernel> kernels = op.backward_input;
    std::vector<Kernel> weight = op.backward_weight;
    interleave(op, kernels, weight);
    std::move(weight.begin(), weight.end(), std::back_inserter(kernels));
    return kernels;
}

RunsByPass operator_runs(const StageGraph& graph, bool split) {
    const std::vector<Use> uses = uses_of(graph, split);
    Lifetimes lifetimes(graph, uses);
    RunsByPass passes;
    for (std::size_t at = 0; at < uses.size(); ++at) {
        passes[uses[at].pass].push_back(
            {static_cast<int>(uses[at].op - graph.operators.data()), uses[at].part,
             std::move(lifetimes.born[at]), std::move(lifetimes.dies[at]),
             std::move(lifetimes.leaves[at]), std::move(lifetimes.returns[at])});
    }
    return passes;
}

std::array<PassSteps, 3> steps_of(const StageGraph& graph, bool split) {
    const RunsByPass runs = operator_runs(graph, split);
    return {plan(graph, runs[0]), plan(graph, runs[1]), plan(graph, runs[2])};
}

PassSteps forward_steps(const StageGraph& graph) {
    return plan(graph, operator_runs(graph, false)[0]);
}

PassSteps backward_steps(const StageGraph& graph) {
    return plan(graph, operator_runs(graph, false)[1]);
}

PassSteps backward_input_steps(const StageGraph& graph) {
    return plan(graph, operator_runs(graph, true)[1]);
}

PassSteps backward_weight_steps(const StageGraph& graph) {
    return plan(graph, operator_runs(graph, true)[2]);
}

}  // namespace debubble::models
