#include "exec/core/training/state/state_policy.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "models/graph/operator_runs.h"

namespace debubble::exec {

namespace {

using models::Operator;
using models::Parameter;

/// The key of a parameter's unit. Parameters with equal keys are in one unit, in the order of their
/// operators.
struct UnitKey {
    std::string name;
    std::optional<int> layer;
    bool tied = false;
    bool head = false;
};

UnitKey key_of(const models::StageGraph& graph, const Operator& op, const Parameter& parameter) {
    if (models::is_tied(graph, op, parameter)) return {parameter.name, {}, true, false};
    if (op.layer) return {fmt::format("layer {}", *op.layer), op.layer, false, false};
    const bool head = !models::is_embedding(op);
    return {head ? "head" : "embedding", {}, false, head};
}

}  // namespace

FlatRange intersection(const FlatRange& a, const FlatRange& b) {
    const std::int64_t first = std::max(a.first, b.first);
    const std::int64_t end = std::min(a.first + a.count, b.first + b.count);
    return {first, std::max<std::int64_t>(0, end - first)};
}

std::vector<ParameterUnit> units_of(const models::StageGraph& graph, UnitsApart apart) {
    std::vector<ParameterUnit> units;
    std::vector<bool> placed(graph.parameters.size(), false);
    for (const Operator& op : graph.operators) {
        const bool is_norm = op.as<models::op::Norm>() != nullptr;
        for (const int index : op.parameters_in_memory()) {
            if (placed[index]) continue;  // the head of an embedding on the same stage
            placed[index] = true;
            const Parameter& parameter = graph.parameters[index];
            UnitKey key = key_of(graph, op, parameter);
            const bool experts = apart.experts && parameter.expert;
            if (apart.norms && is_norm) key.name += "'s norms";
            if (experts) key.name += "'s experts";
            const bool matrices = apart.matrices && parameter.hidden_matrix;
            if (matrices) key.name += "'s matrices";
            auto unit = std::ranges::find(units, key.name, &ParameterUnit::name);
            if (unit == units.end()) {
                units.push_back(
                    {key.name, key.layer, key.tied, experts, matrices, key.head, {}, 0});
                unit = std::prev(units.end());
            }
            const std::int64_t elements = parameter.elements_of_rank(graph.execution);
            unit->slots.push_back({index, {unit->elements, elements}});
            unit->elements += elements;
        }
    }
    DEBUBBLE_CHECK(std::ranges::find(placed, false) == placed.end(),
                   "some operator uses a parameter");
    return units;
}

}  // namespace debubble::exec
