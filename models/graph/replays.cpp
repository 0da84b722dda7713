#include "models/graph/replays.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace debubble::models {
namespace {

constexpr std::array kRecomputed{Module::CoreAttention,   Module::MoeActivation, Module::LayerNorm,
                                 Module::MlaUpProjection, Module::Mlp,           Module::Moe,
                                 Module::SharedExperts};

/// The operators of whole layers, in groups of which the input of the first layer is kept.
std::vector<Replay> of_layers(const StageGraph& graph) {
    const RecomputeExtent& extent = graph.execution.recompute_extent;
    const auto group_of = [&](const Operator& op) -> std::optional<int> {
        if (op.tower_layer && extent.reaches(*op.tower_layer))
            return -1 - *op.tower_layer / extent.together;
        if (!op.layer) return std::nullopt;
        const int before = *op.layer - graph.content.first_layer;
        if (!extent.reaches(before)) return std::nullopt;
        return before < graph.content.layers ? before / extent.together : before;
    };
    std::vector<Replay> replays;
    std::optional<int> last;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const std::optional<int> group = group_of(graph.operators[i]);
        if (group && group != last) replays.emplace_back();
        if (group) replays.back().operators.push_back(static_cast<int>(i));
        last = group;
    }
    return replays;
}

/// The modules of the layer whose operators are [begin, end). A layer has each once, but for norms.
void add_modules(const StageGraph& graph, std::size_t begin, std::size_t end,
                 std::vector<Replay>& replays) {
    for (const Module module : kRecomputed) {
        if (!graph.execution.recompute_extent.modules.has(module)) continue;
        Replay replay{{}, discards_output(module)};
        for (std::size_t i = begin; i < end; ++i) {
            if (!graph.operators[i].modules.has(module)) continue;
            replay.operators.push_back(static_cast<int>(i));
            if (module != Module::LayerNorm) continue;
            replays.push_back(replay);
            replay.operators.clear();
        }
        if (!replay.operators.empty()) replays.push_back(std::move(replay));
    }
}

std::vector<Replay> of_modules(const StageGraph& graph) {
    const std::vector<Operator>& ops = graph.operators;
    std::vector<Replay> replays;
    for (std::size_t begin = 0; begin < ops.size();) {
        std::size_t end = begin + 1;
        while (end < ops.size() && ops[end].layer == ops[begin].layer) ++end;
        if (ops[begin].layer &&
            graph.execution.recompute_extent.reaches(layers_before(graph, *ops[begin].layer)))
            add_modules(graph, begin, end, replays);
        begin = end;
    }
    return replays;
}

/// Those of every layer that select_products has marked, as one replay.
std::vector<Replay> of_products(const StageGraph& graph) {
    std::vector<Replay> replays;
    std::optional<int> last;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const Operator& op = graph.operators[i];
        if (!op.again) continue;
        if (op.layer != last) replays.push_back({{}, true});
        last = op.layer;
        replays.back().operators.push_back(static_cast<int>(i));
    }
    return replays;
}

std::set<int> made_by(const StageGraph& graph, const Replay& replay) {
    std::set<int> made;
    for (const int index : replay.operators) {
        const Operator& op = graph.operators[index];
        for (const int tensor : op.forward_uses)
            if (!op.is_given(tensor, replay.discards)) made.insert(tensor);
    }
    return made;
}

bool uses_any(const std::vector<int>& uses, const std::set<int>& tensors) {
    return std::ranges::any_of(uses, [&](int tensor) { return tensors.contains(tensor); });
}

bool contains(const Replay& outer, const Replay& inner) {
    return std::ranges::includes(outer.operators, inner.operators);
}

/// The operator before whose backward discarded outputs must be there again: the last of the layer
/// that reads them then, or that ends a checkpoint which reads them.
int first_reader(const StageGraph& graph, const Replay& replay, const std::vector<Replay>& all) {
    const std::set<int> made = made_by(graph, replay);
    const std::vector<Operator>& ops = graph.operators;
    const int own = replay.operators.back();
    int reader = own;
    for (std::size_t i = own + 1; i < ops.size() && ops[i].layer == ops[own].layer; ++i)
        if (uses_any(ops[i].backward_input_uses, made) ||
            uses_any(ops[i].backward_weight_uses, made))
            reader = static_cast<int>(i);
    for (const Replay& other : all) {
        if (other.discards || ops[other.operators.front()].layer != ops[own].layer ||
            contains(other, replay))
            continue;
        const bool reads = std::ranges::any_of(
            other.operators, [&](int index) { return uses_any(ops[index].inputs, made); });
        if (reads) reader = std::max(reader, other.operators.back());
    }
    return reader;
}

/// Inputs of checkpoints come before them, and their contents after them; an outer checkpoint comes
/// before an inner one.
void order(std::vector<Replay>& replays) {
    const auto place = [&replays](const Replay& replay) {
        const auto holds = [&](const Replay& other) {
            return !other.discards && contains(other, replay);
        };
        if (!replay.discards) return std::pair(1, -std::ssize(replay.operators));
        return std::pair(std::ranges::any_of(replays, holds) ? 2 : 0, std::ptrdiff_t{0});
    };
    std::vector<std::pair<std::pair<int, std::ptrdiff_t>, std::size_t>> places;
    for (std::size_t i = 0; i < replays.size(); ++i) places.emplace_back(place(replays[i]), i);
    std::ranges::sort(places);
    std::vector<Replay> ordered;
    for (const auto& [key, index] : places) ordered.push_back(std::move(replays[index]));
    replays = std::move(ordered);
}

}  // namespace

bool discards_output(Module module) {
    return module == Module::MoeActivation || module == Module::LayerNorm ||
           module == Module::MlaUpProjection;
}

int layers_before(const StageGraph& graph, int layer) {
    return std::min(layer - graph.content.first_layer, graph.content.layers);
}

std::vector<std::vector<Replay>> replays_of(const StageGraph& graph) {
    std::vector<std::vector<Replay>> before(graph.operators.size());
    std::vector<Replay> all;
    switch (graph.execution.recompute) {
        case Recompute::None:
        case Recompute::Selective: return before;
        case Recompute::Full: all = of_layers(graph); break;
        case Recompute::Modules: all = of_modules(graph); break;
        case Recompute::Products: all = of_products(graph); break;
    }
    for (const Replay& replay : all) {
        const int at = replay.discards ? first_reader(graph, replay, all) : replay.operators.back();
        before[at].push_back(replay);
    }
    for (std::vector<Replay>& replays : before)
        if (replays.size() > 1) order(replays);
    return before;
}

bool is_made_again(const StageGraph& graph, int tensor) {
    for (const std::vector<Replay>& replays : replays_of(graph))
        for (const Replay& replay : replays)
            if (made_by(graph, replay).contains(tensor)) return true;
    return false;
}

std::vector<int> times_again(const StageGraph& graph) {
    std::vector<int> times(graph.operators.size());
    for (const std::vector<Replay>& replays : replays_of(graph))
        for (const Replay& replay : replays)
            for (const int index : replay.operators) ++times[index];
    return times;
}

}  // namespace debubble::models
