#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "models/graph/lifetimes.h"
#include "models/graph/replays.h"

namespace debubble::models {
namespace {

/// Outputs of a checkpoint that another operator keeps for its backward-weight, which comes after
/// the checkpoint has run again; a fused backward has come before it.
std::shared_ptr<const std::vector<bool>> kept_outside(const StageGraph& graph,
                                                      const Replay& replay) {
    std::vector<bool> made(graph.tensors.size());
    std::vector<bool> inside(graph.operators.size());
    for (const int index : replay.operators) {
        inside[index] = true;
        for (const int tensor : graph.operators[index].forward_uses) made[tensor] = true;
    }
    auto kept = std::make_shared<std::vector<bool>>(graph.tensors.size());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (inside[i]) continue;
        for (const int tensor : graph.operators[i].backward_weight_uses)
            if (made[tensor]) (*kept)[tensor] = true;
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
    DelayedWeights(const StageGraph& graph, std::vector<OperatorUse>& uses)
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
    /// Whether it precedes every all-to-all of the layer and every other such GEMM.
    bool is_first_of_experts(std::size_t index) const {
        for (std::size_t i = index; i-- > 0 && ops_[i].layer == ops_[index].layer;)
            if (moves_to_experts(ops_[i]) ||
                (delays_weight(ops_[i]) && weight_is_of_experts(ops_[i])))
                return false;
        return true;
    }

    const std::vector<Operator>& ops_;
    std::vector<OperatorUse>& uses_;
    std::optional<int> layer_;
    std::vector<std::size_t> experts_;
    std::vector<std::size_t> others_;
};

}  // namespace

std::array<std::span<const int>, 2> OperatorUse::tensors() const {
    switch (part) {
        case Part::Forward: return {op->forward_uses, {}};
        case Part::Again:
            if (reads_copy()) return {op->kept_copy->uses_again, {}};
            return {op->forward_uses, {}};
        case Part::Input: return {op->backward_input_uses, {}};
        case Part::Weight: return {op->backward_weight_uses, {}};
        case Part::Fused: break;
    }
    return {op->backward_input_uses, op->backward_weight_uses};
}

bool OperatorUse::begins(const StageGraph& graph, int tensor) const {
    if (part != Part::Forward && part != Part::Again) return false;
    if (part == Part::Again && graph.tensors[tensor].slices == Across::Seen) return false;
    if (kept && (*kept)[tensor]) return false;
    return !op->is_given(tensor, alone);
}

std::vector<OperatorUse> uses_of(const StageGraph& graph, bool split) {
    std::vector<OperatorUse> uses;
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
                uses.push_back({&ops[index], Part::Again, 1, kept, replay.discards});
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

}  // namespace debubble::models
