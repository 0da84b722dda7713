#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "models/build/graph_builder.h"
#include "models/graph/operator_runs.h"
#include "models/graph/replays.h"
#include "models/network/weight_format.h"

namespace debubble::models {

namespace {

void refuse_what_is_not_modelled(const Architecture& model, const Execution& how,
                                 const StageContent& content) {
    std::vector<Diagnostic> mistakes;
    const auto refuse = [&](std::string sentence) {
        mistakes.push_back({{}, std::move(sentence), {}});
    };
    if (content.layers > kMostLayersOfAStage) {
        refuse(fmt::format("{} layers exceed the {} that a stage may hold", content.layers,
                           kMostLayersOfAStage));
    }
    if (content.first_layer < 0 || content.layers < 0 ||
        content.layers > model.layers.count() - content.first_layer) {
        refuse(fmt::format("layers {} to {} are outside the model's {}", content.first_layer,
                           content.first_layer + content.layers - 1, model.layers.count()));
    }
    if (model.mixes_streams() && model.mtp_layers > 0)
        refuse("multi-token prediction with several residual streams is not supported");
    if (model.tower && content.embedding) {
        const std::size_t features = model.tower->deepstack.size();
        if (!content.head && std::cmp_less(content.layers, features))
            refuse(
                fmt::format("features of the vision tower are added after the first {} layers, "
                            "which must be in its stage, the first; that stage has {}",
                            features, content.layers));
        if (how.slices > 1) refuse("images do not support sequence slices");
    }
    for (FormatMistake& mistake : format_mistakes(model)) refuse(std::move(mistake.sentence));
    if (how.slices > 1 && how.exchanging() > 1) {
        refuse("sequence slices cannot use all-to-all context parallelism; use p2p or all-gather");
    }
    if (model.learned_positions && !model.sees_images() && how.seq_length > model.max_positions) {
        refuse(fmt::format("{} tokens exceed the {} learned positions", how.seq_length,
                           model.max_positions));
    }
    if (model.sees_images()) {
        if (how.seq_length != model.max_positions) {
            refuse(fmt::format(
                "the sequence of a ViT consists of all {} patches and class token, not {}",
                model.max_positions, how.seq_length));
        }
        if (how.sequence_parallel || how.context > 1 || how.slices > 1) {
            refuse("the sequence of a ViT cannot be split: its class token must be on every rank");
        }
    }
    if (!mistakes.empty()) throw InputError(std::move(mistakes));
}

/// The mask that a data loader makes for a microbatch: it lives through the forward.
void add_attention_mask(GraphBuilder& builder) {
    const std::int64_t whole = builder.how().seq_length;
    const int mask = builder.tensor("attention_mask", builder.size.samples * whole * whole);
    std::vector<Operator>& operators = builder.graph.operators;
    operators.front().forward_uses.push_back(mask);
    operators.back().forward_uses.push_back(mask);
    operators.back().inputs.push_back(mask);
}

/// Workspace lives inside one action, whether the backward is split or not: a tensor that one pass
/// leaves to another is an activation, whatever it was made for.
void class_by_life(StageGraph& graph) {
    const std::vector<bool> left = left_to_other_passes(graph);
    for (std::size_t tensor = 0; tensor < left.size(); ++tensor)
        if (left[tensor]) graph.tensors[tensor].held_as = MemoryClass::Activations;
}

/// Delayed scales follow from the largest values that all ranks with the same products have seen,
/// which TransformerEngine reduces at the end of every pass: fp32, of each operand.
void reduce_scales(StageGraph& graph) {
    if (graph.execution.low_precision.recipe != Recipe::Fp8Delayed) return;
    const auto products = std::ranges::count_if(graph.operators, [](const Operator& op) {
        const auto* linear = op.as<op::Linear>();
        const auto* experts = op.as<op::ExpertProducts>();
        return (linear != nullptr && linear->narrow) || (experts != nullptr && experts->narrow);
    });
    if (products == 0) return;
    const auto reduces = [&](const char* name, std::int64_t operands) {
        return Kernel{name,
                      {},
                      Collective{Collective::Kind::AllReduce, Collective::Group::Data,
                                 Bytes{4 * operands * products}}};
    };
    graph.operators.back().forward.push_back(reduces("scales.reduce", 2));
    graph.operators.front().backward_input.push_back(reduces("d.scales.reduce", 1));
}

void mark_hidden_matrices(StageGraph& graph) {
    for (const Operator& op : graph.operators) {
        if (!op.layer && !op.tower) continue;  // embedding and head
        for (const int index : op.parameters) {
            Parameter& parameter = graph.parameters[index];
            parameter.hidden_matrix =
                parameter.shape.size() == 2 && !parameter.frozen && parameter.tied_to.empty();
        }
    }
}

}  // namespace

StageGraph build_stage(const Architecture& architecture, const Execution& execution,
                       const StageContent& content, ExpertParameters experts) {
    refuse_what_is_not_modelled(architecture, execution, content);
    GraphBuilder builder;
    builder.size = sizes_of(architecture, execution);
    builder.graph.architecture = architecture;
    builder.graph.execution = execution;
    builder.graph.content = content;
    builder.expert_parameters = experts;
    StageGraph& graph = builder.graph;
    const bool images = architecture.sees_images();
    const bool widens = content.embedding && architecture.streams > 1;
    const std::int64_t first_bytes = builder.size.stream_bytes() * architecture.streams;
    const int stream_gradient =
        builder.tensor("d.stream", content.embedding ? first_bytes : graph.input_bytes().count);
    Value x{0, stream_gradient};
    const auto embedding = [&](int gradient) {
        if (images) return patch_embedding(builder, gradient);
        return architecture.tower ? embedding_with_images(builder, gradient)
                                  : token_embedding(builder, gradient);
    };
    if (widens) {
        const int narrow = builder.tensor("d.embedding.stream", builder.size.stream_bytes());
        x = widen_streams(builder, embedding(narrow), stream_gradient);
    } else if (content.embedding) {
        x = embedding(stream_gradient);
    } else {
        x.tensor = builder.tensor("input", graph.input_bytes().count);
        graph.input = x.tensor;
        graph.input_gradient = stream_gradient;
    }
    for (int i = 0; i < content.layers; ++i) {
        const bool last = i == content.layers - 1 && !content.head && !content.final_norm &&
                          content.predictions != Predictions::Here && !architecture.residual_block;
        const int layer = content.first_layer + i;
        const char* result = last ? "d.output" : nullptr;
        const bool adds = std::cmp_less(layer, builder.features.size());
        x = build_layer(builder, layer, x, {stream_gradient, adds ? nullptr : result});
        if (adds) x = add_features(builder, layer, x, result);
    }
    if (architecture.mixes_streams())
        x = content.head ? collapse_streams(builder, x) : sent_streams(builder, x);
    if (content.final_norm) x = final_norm(builder, x);
    if (content.predictions == Predictions::Here)
        x = stacked(builder, predictions_ahead(builder, {}, x));
    if (!content.head) {
        graph.output = x.tensor;
        graph.output_gradient = x.gradient;
    } else if (content.predictions == Predictions::Before) {
        head_of_streams(builder, x);
    } else if (images) {
        classifier(builder, x);
    } else {
        head_and_loss(builder, x);
    }
    if (!builder.mistakes.empty()) throw InputError(std::move(builder.mistakes));
    if (execution.kernels.attention_mask_tensor && graph.operators.size() > 1)
        add_attention_mask(builder);
    if (execution.recompute == Recompute::Products) select_products(graph);
    reduce_scales(graph);
    class_by_life(graph);
    mark_hidden_matrices(graph);
    return std::move(builder.graph);
}

}  // namespace debubble::models
