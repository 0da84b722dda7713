#include "models/graph/replays.h"

#include <algorithm>
#include <array>
#include <set>

namespace debubble::models {
namespace {

constexpr std::array kOffloaded{
    Module::AttentionNorm, Module::QkvLinear, Module::CoreAttention, Module::AttentionProjection,
    Module::MlpNorm,       Module::ExpertFc1, Module::MoeActivation};

/// The operators of one layer.
struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    int layer = 0;
};

std::vector<Range> layers_of(const StageGraph& graph) {
    const std::vector<Operator>& ops = graph.operators;
    std::vector<Range> layers;
    for (std::size_t begin = 0; begin < ops.size();) {
        std::size_t end = begin + 1;
        while (end < ops.size() && ops[end].layer == ops[begin].layer) ++end;
        if (ops[begin].layer) layers.push_back({begin, end, *ops[begin].layer});
        begin = end;
    }
    return layers;
}

/// Tensors that are discarded and made again do not go away.
std::set<int> made_again(const StageGraph& graph) {
    std::set<int> made;
    for (const std::vector<Replay>& replays : replays_of(graph))
        for (const Replay& replay : replays)
            for (const int index : replay.operators) {
                const Operator& op = graph.operators[index];
                for (const int tensor : op.forward_uses)
                    if (replay.discards && !op.is_given(tensor, true)) made.insert(tensor);
            }
    return made;
}

bool is_large(const StageGraph& graph, int tensor) {
    return graph.tensors[tensor].bytes.count >=
           graph.execution.offload.fewest_elements * size_of(graph.execution.compute);
}

/// The tensors that the operators of a layer save for the backward; with a module, only those that
/// the module does not make itself.
OffloadGroup saved_of(const StageGraph& graph, const Range& layer, const Module* module,
                      std::set<int>& taken) {
    OffloadGroup group{{}, layer.layer};
    std::set<int> made;
    for (std::size_t i = layer.begin; i < layer.end; ++i) {
        const Operator& op = graph.operators[i];
        if (module != nullptr && !op.modules.has(*module)) continue;
        for (const int tensor : op.saved) {
            if (module != nullptr && made.contains(tensor)) continue;
            const bool own = !op.is_given(tensor, true);
            if ((module != nullptr && own) || !is_large(graph, tensor)) continue;
            if (graph.tensors[tensor].slices != Across::None) continue;
            if (taken.insert(tensor).second) group.tensors.push_back(tensor);
        }
        made.insert(op.forward_uses.begin(), op.forward_uses.end());
    }
    return group;
}

/// The groups of one module, or of whole layers, of all layers but the last that has any.
void add_groups(const StageGraph& graph, const std::vector<Range>& layers, const Module* module,
                std::set<int>& taken, std::vector<OffloadGroup>& groups) {
    std::vector<OffloadGroup> own;
    for (const Range& layer : layers) {
        if (!graph.execution.offload.reaches(layers_before(graph, layer.layer))) continue;
        OffloadGroup group = saved_of(graph, layer, module, taken);
        if (!group.tensors.empty()) own.push_back(std::move(group));
    }
    if (!own.empty() && own.back().layer == layers.back().layer) own.pop_back();
    groups.insert(groups.end(), own.begin(), own.end());
}

}  // namespace

std::vector<OffloadGroup> offloads_of(const StageGraph& graph) {
    const OffloadExtent& extent = graph.execution.offload;
    std::vector<OffloadGroup> groups;
    if (!extent.any()) return groups;
    const std::vector<Range> layers = layers_of(graph);
    if (layers.empty()) return groups;
    std::set<int> taken = made_again(graph);
    if (extent.everything) add_groups(graph, layers, nullptr, taken, groups);
    for (const Module& module : kOffloaded)
        if (extent.modules.has(module)) add_groups(graph, layers, &module, taken, groups);
    return groups;
}

}  // namespace debubble::models
