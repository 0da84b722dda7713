#include "sim/report/reference/model_table.h"

#include <map>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/memory/static_memory.h"
#include "models/partition/partition.h"
#include "sim/memory/pass_memory.h"

namespace debubble::sim {
namespace {

using Layer = std::optional<int>;

/// For each tensor, the layer whose backward it is saved for: that of the first operator that saves
/// it. A layer's input, which the layer before made, thus belongs to the layer.
std::vector<Layer> saved_by(const models::StageGraph& graph) {
    std::vector<std::optional<Layer>> known(graph.tensors.size());
    const auto claim = [&](const std::vector<int>& tensors, Layer layer) {
        for (const int tensor : tensors) {
            auto& owner = known[tensor];
            if (!owner) owner = layer;
        }
    };
    for (const models::Operator& op : graph.operators) claim(op.saved, op.layer);
    // A tensor that a backward needs without reading it as an operand belongs to the layer whose
    // forward uses it.
    for (const models::Operator& op : graph.operators) claim(op.forward_uses, op.layer);
    std::vector<Layer> layers;
    layers.reserve(known.size());
    for (const auto& owner : known) layers.push_back(owner.value_or(Layer()));
    return layers;
}

/// Bytes that are live after the forward, by the layer that saves them.
std::map<Layer, Bytes> kept_after(const models::PassSteps& forward,
                                  const models::StageGraph& graph) {
    const std::vector<Layer> layers = saved_by(graph);
    std::vector<bool> live(graph.tensors.size(), false);
    for (const models::Step& step : forward.steps)
        if (step.kind != models::Step::Kind::Run)
            live[step.index] = step.kind == models::Step::Kind::Allocate;
    std::map<Layer, Bytes> kept;
    for (std::size_t tensor = 0; tensor < live.size(); ++tensor)
        if (live[tensor]) kept[layers[tensor]] += graph.tensors[tensor].bytes;
    return kept;
}

/// The figures of the whole stage, each counted separately.
LayerFigures sum_of(const models::StageGraph& graph, const models::PassSteps& forward,
                    const models::PassSteps& backward) {
    LayerFigures sum;
    sum.parameters = graph.parameter_elements();
    for (const models::Kernel& kernel : forward.kernels) sum.forward_flops += flops(kernel);
    for (const models::Kernel& kernel : backward.kernels) sum.backward_flops += flops(kernel);
    sum.activations = play(graph, forward).held_after;
    return sum;
}

StageFigures figures_of(const models::StageGraph& graph) {
    std::map<Layer, LayerFigures> by_layer;
    std::vector<bool> counted(graph.parameters.size(), false);
    for (const models::Operator& op : graph.operators)
        for (const int parameter : op.parameters) {
            if (counted[parameter]) continue;
            counted[parameter] = true;
            by_layer[op.layer].parameters +=
                graph.parameters[parameter].elements_of_rank(graph.execution);
        }
    const models::PassSteps forward = forward_steps(graph);
    for (const models::Kernel& kernel : forward.kernels)
        by_layer[kernel.layer].forward_flops += flops(kernel);
    const models::PassSteps backward = backward_steps(graph);
    for (const models::Kernel& kernel : backward.kernels)
        by_layer[kernel.layer].backward_flops += flops(kernel);
    for (const auto& [layer, bytes] : kept_after(forward, graph))
        by_layer[layer].activations = bytes;

    StageFigures stage{graph.content, {}, sum_of(graph, forward, backward), {}};
    for (auto& [layer, figures] : by_layer) {
        figures.layer = layer;
        stage.layers.push_back(figures);
    }
    stage.static_memory = total(models::static_memory(graph, {}).held);
    return stage;
}

}  // namespace

std::vector<StageFigures> model_table(const models::Architecture& architecture,
                                      const models::Execution& execution, int stages) {
    std::vector<StageFigures> table;
    for (const models::StageContent& content : models::begun_at_choices(
             models::uniform_stages(architecture.layers.count(), stages, 1), architecture.layers))
        table.push_back(figures_of(models::build_stage(architecture, execution, content)));
    return table;
}

ParameterSums parameter_sums(const models::Architecture& architecture,
                             const models::Execution& execution,
                             const std::vector<StageFigures>& table) {
    ParameterSums sums;
    sums.published = models::parameter_count(architecture);
    models::Execution whole = execution;
    whole.kernels.vocabulary_multiple *= whole.tensor;  // so that the ranks' shares of the tables
                                                        // are equal
    whole.tensor = whole.expert_tensor = 1;
    whole.sequence_parallel = false;
    sums.padded =
        models::build_stage(architecture, whole, {0, architecture.layers.count(), true, true})
            .parameter_elements();
    for (const StageFigures& stage : table) sums.listed += stage.sum.parameters;
    return sums;
}

}  // namespace debubble::sim
