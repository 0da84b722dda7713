#include "sim/commands/model_table.h"

#include <map>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "models/partition.h"
#include "models/static_memory.h"

namespace debubble::sim {
namespace {

using Layer = std::optional<int>;

Layer layer_of(const models::Kernel& kernel) {
    return kernel.layer < 0 ? Layer() : Layer(kernel.layer);
}

/// Bytes that are live after the forward, by the layer that made them.
std::map<Layer, Bytes> kept_after(const models::PassSteps& forward,
                                  const models::StageGraph& graph) {
    std::vector<Layer> made_by(graph.tensors.size());
    for (const models::Operator& op : graph.operators)
        for (const int tensor : op.outputs) made_by[static_cast<std::size_t>(tensor)] = op.layer;
    std::map<Layer, Bytes> kept;
    for (const models::Step& step : forward.steps) {
        if (step.kind == models::Step::Kind::Run) continue;
        const auto tensor = static_cast<std::size_t>(step.index);
        const Bytes bytes = graph.tensors[tensor].bytes;
        if (step.kind == models::Step::Kind::Allocate)
            kept[made_by[tensor]] += bytes;
        else
            kept[made_by[tensor]] -= bytes;
    }
    return kept;
}

StageFigures figures_of(const models::StageGraph& graph) {
    std::map<Layer, LayerFigures> by_layer;
    std::vector<bool> counted(graph.parameters.size(), false);
    for (const models::Operator& op : graph.operators)
        for (const int index : op.parameters) {
            const auto parameter = static_cast<std::size_t>(index);
            if (counted[parameter]) continue;
            counted[parameter] = true;
            by_layer[op.layer].parameters +=
                graph.parameters[parameter].elements_of_rank(graph.execution);
        }
    const models::PassSteps forward = forward_steps(graph);
    for (const models::Kernel& kernel : forward.kernels)
        by_layer[layer_of(kernel)].forward_flops += flops(kernel);
    for (const models::Kernel& kernel : backward_steps(graph).kernels)
        by_layer[layer_of(kernel)].backward_flops += flops(kernel);
    for (const auto& [layer, bytes] : kept_after(forward, graph))
        by_layer[layer].activations = bytes;

    StageFigures stage{graph.content, {}, {}, {}};
    for (auto& [layer, figures] : by_layer) {
        figures.layer = layer;
        stage.layers.push_back(figures);
        stage.sum.parameters += figures.parameters;
        stage.sum.forward_flops += figures.forward_flops;
        stage.sum.backward_flops += figures.backward_flops;
        stage.sum.activations += figures.activations;
    }
    stage.static_memory = total(models::static_memory(graph, {}).held);
    return stage;
}

}  // namespace

std::vector<StageFigures> model_table(const models::Architecture& architecture,
                                      const models::Execution& execution, int stages) {
    std::vector<StageFigures> table;
    for (const models::StageContent& content :
         models::uniform_stages(architecture.layers, stages, 1))
        table.push_back(figures_of(models::build_stage(architecture, execution, content)));
    return table;
}

}  // namespace debubble::sim
