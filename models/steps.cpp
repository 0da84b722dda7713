#include <algorithm>
#include <iterator>
#include <memory>
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
    /// By tensor, what a run again gives and something else keeps; null if that is nothing.
    std::shared_ptr<const std::vector<bool>> kept = {};

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
        if (kept && (*kept)[static_cast<std::size_t>(tensor)]) return false;
        return std::find(op->inputs.begin(), op->inputs.end(), tensor) == op->inputs.end();
    }
};

/// What a checkpoint gives and another operator keeps for its backward-weight, which comes after
/// the checkpoint has run again; a fused backward has come before it.
std::shared_ptr<const std::vector<bool>> kept_outside(const StageGraph& graph,
                                                      const Replay& replay) {
    std::vector<bool> made(graph.tensors.size());
    std::vector<bool> inside(graph.operators.size());
    for (const int index : replay.operators) {
        inside[static_cast<std::size_t>(index)] = true;
        for (const int tensor : graph.operators[static_cast<std::size_t>(index)].forward_uses)
            made[static_cast<std::size_t>(tensor)] = true;
    }
    auto kept = std::make_shared<std::vector<bool>>(graph.tensors.size());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (inside[i]) continue;
        for (const int tensor : graph.operators[i].backward_weight_uses)
            if (made[static_cast<std::size_t>(tensor)])
                (*kept)[static_cast<std::size_t>(tensor)] = true;
    }
    return kept;
}

bool moves_to_experts(const Operator& op) {
    const auto* moved = op.as<op::Dispatch>();
    return moved != nullptr && moved->kind == op::Dispatch::Kind::Exchange && !moved->returns;
}

/// The weight gradients of a layer that have not been computed yet, where they are delayed.
class DelayedWeights {
public:
    DelayedWeights(const StageGraph& graph, std::vector<Use>& uses)
        : ops_(graph.operators), uses_(uses) {}

    /// Called before the operator runs: a layer's come before the layer before it, those of experts
    /// before rows go back.
    void before(std::size_t index) {
        const Operator& op = ops_[index];
        if (op.layer != layer_) compute_all();
        layer_ = op.layer;
        if (moves_to_experts(op)) compute(experts_);
    }
    /// Called after the operator's input part has run.
    void delay(std::size_t index) {
        const bool of_experts = weight_is_of_experts(ops_[index]);
        (of_experts ? experts_ : others_).push_back(index);
        if (of_experts && is_first_of_experts(index)) compute(experts_);
    }
    void compute_all() {
        compute(experts_);
        compute(others_);
    }

private:
    void compute(std::vector<std::size_t>& delayed) {
        for (const std::size_t index : delayed) uses_.push_back({&ops_[index], Part::Weight, 1});
        delayed.clear();
    }
    /// Whether no exchange of the layer comes before it, nor another such product.
    bool is_first_of_experts(std::size_t index) const {
        for (std::size_t i = index; i-- > 0 && ops_[i].layer == ops_[index].layer;)
            if (moves_to_experts(ops_[i]) ||
                (delays_weight(ops_[i]) && weight_is_of_experts(ops_[i])))
                return false;
        return true;
    }

    const std::vector<Operator>& ops_;
    std::vector<Use>& uses_;
    std::optional<int> layer_;
    std::vector<std::size_t> experts_;
    std::vector<std::size_t> others_;
};

/// Forward, then the operators in reverse, each after what it needs again.
std::vector<Use> uses_of(const StageGraph& graph, bool split) {
    std::vector<Use> uses;
    const std::vector<Operator>& ops = graph.operators;
    uses.reserve(4 * ops.size());
    for (const Operator& op : ops) uses.push_back({&op, Part::Forward, 0});
    const auto replays = replays_of(graph);
    const bool delays = graph.execution.delays_weights && !split;
    DelayedWeights delayed(graph, uses);
    for (std::size_t i = ops.size(); i-- > 0;) {
        if (delays) delayed.before(i);
        for (const Replay& replay : replays[i]) {
            const auto kept =
                (split || delays) && !replay.discards ? kept_outside(graph, replay) : nullptr;
            for (const int index : replay.operators)
                uses.push_back({&ops[static_cast<std::size_t>(index)], Part::Again, 1, kept});
        }
        const bool apart = delays && delays_weight(ops[i]);
        uses.push_back({&ops[i], split || apart ? Part::Input : Part::Fused, 1});
        if (apart) delayed.delay(i);
    }
    delayed.compute_all();
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

/// Tensors by the use at which something happens to them, in the order in which they were added.
class TensorsByUse {
public:
    void add(std::size_t at, int tensor) { added_.push_back({at, tensor}); }
    void sort(std::size_t uses) {
        first_.assign(uses + 1, 0);
        if (added_.empty()) return;
        for (const Entry& entry : added_) ++first_[entry.at + 1];
        for (std::size_t at = 0; at < uses; ++at) first_[at + 1] += first_[at];
        tensors_.resize(added_.size());
        std::vector<std::size_t> next = first_;
        for (const Entry& entry : added_) tensors_[next[entry.at]++] = entry.tensor;
    }
    std::span<const int> at(std::size_t use) const {
        return std::span(tensors_).subspan(first_[use], first_[use + 1] - first_[use]);
    }

private:
    struct Entry {
        std::size_t at;
        int tensor;
    };
    std::vector<Entry> added_;
    std::vector<std::size_t> first_;  ///< of each use, and the end of all
    std::vector<int> tensors_;
};

/// The tensors that each operator's run allocates before its kernels and frees after them.
struct Lifetimes {
    TensorsByUse born;
    TensorsByUse dies;
    TensorsByUse leaves;   ///< those of `dies` that go to the host
    TensorsByUse returns;  ///< those of `born` that come back

    Lifetimes(const StageGraph& graph, const std::vector<Use>& uses) {
        constexpr std::size_t kNever = SIZE_MAX;
        std::vector<std::size_t> lasts(graph.tensors.size(), kNever);
        const Away away(graph, uses);
        const auto use = [&](int tensor, std::size_t at) {
            std::size_t& last = lasts[static_cast<std::size_t>(tensor)];
            if (last == at) return;  // named twice by one operator
            const bool begins = uses[at].begins(graph, tensor);
            const auto back = last != kNever && !begins ? away.back(tensor, last, at)
                                                        : std::optional<std::size_t>{};
            if (last == kNever || back || begins) {
                if (last != kNever) dies.add(last, tensor);
                born.add(back.value_or(at), tensor);
                if (back) {
                    leaves.add(last, tensor);
                    returns.add(*back, tensor);
                }
            }
            last = at;
        };
        for (std::size_t at = 0; at < uses.size(); ++at) {
            for (const std::span<const int> list : uses[at].tensors()) {
                for (const int tensor : list) use(tensor, at);
            }
        }
        for (std::size_t tensor = 0; tensor < lasts.size(); ++tensor) {
            if (lasts[tensor] != kNever) dies.add(lasts[tensor], static_cast<int>(tensor));
        }
        for (TensorsByUse* tensors : {&born, &dies, &leaves, &returns}) tensors->sort(uses.size());
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

bool makes_dense_gradients(const StageGraph& graph, const Use& use) {
    if (use.part != Part::Fused && use.part != Part::Weight) return false;
    return std::ranges::any_of(use.op->parameters, [&](int index) {
        const Parameter& parameter = graph.parameters[static_cast<std::size_t>(index)];
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

TurnPart turn_part_of(const Use& use) {
    if (!use.op->layer) return TurnPart::Outside;
    if (use.part == Part::Weight) return TurnPart::Weights;
    const auto* moved = use.op->as<op::Dispatch>();
    const bool asks = moved != nullptr && moved->kind == op::Dispatch::Kind::Exchange;
    return asks ? TurnPart::Asks : TurnPart::Computes;
}

/// Notes that the steps up to here are of the use. What an exchange frees is freed after it, by
/// what comes next.
void note_turn(PassSteps& pass, const Use& use, std::size_t end) {
    const TurnPart part = turn_part_of(use);
    const int layer = use.op->layer.value_or(-1);
    if (pass.turns.empty() || pass.turns.back().part != part || pass.turns.back().layer != layer)
        pass.turns.push_back({part, layer, end});
    pass.turns.back().end = end;
}

PassSteps plan(const StageGraph& graph, const std::vector<Use>& uses, const Lifetimes& lifetimes,
               int which) {
    PassSteps pass;
    bool beside = false;
    for (std::size_t at = 0; at < uses.size(); ++at) {
        const Use& use = uses[at];
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
        if (const std::vector<Kernel>* listed = kernels_as_listed(*use.op, use.part))
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
    const std::vector<Use> uses = uses_of(graph, split);
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
    const std::vector<Use> uses = uses_of(graph, split);
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
    const std::vector<Use> uses = uses_of(graph, true);
    const Lifetimes lifetimes(graph, uses);
    std::vector<bool> left(graph.tensors.size());
    std::vector<int> alive(graph.tensors.size());
    for (std::size_t at = 0; at < uses.size(); ++at) {
        for (const int tensor : lifetimes.born.at(at)) ++alive[static_cast<std::size_t>(tensor)];
        for (const int tensor : lifetimes.dies.at(at)) --alive[static_cast<std::size_t>(tensor)];
        if (at + 1 < uses.size() && uses[at + 1].pass == uses[at].pass) continue;
        for (std::size_t tensor = 0; tensor < alive.size(); ++tensor)
            if (std::exchange(alive[tensor], 0) != 0) left[tensor] = true;
    }
    return left;
}

std::array<PassSteps, 3> steps_of(const StageGraph& graph, bool split) {
    const std::vector<Use> uses = uses_of(graph, split);
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
