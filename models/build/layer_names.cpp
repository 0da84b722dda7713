#include "models/build/layer_names.h"

#include <fmt/format.h>

#include "models/network/weight_format.h"

namespace debubble::models {

namespace {

/// A weight [outputs, inputs] in Hugging Face's Linear, [inputs, outputs] in its Conv1D,
/// with its bias if the model has biases.
struct ParameterNamer {
    GraphBuilder& builder;
    Initial weights = Initial::Normal;
    LinearParameters indices = {};

    void add(const std::string& name, std::int64_t inputs, std::int64_t outputs, Sharding usual,
             bool biased, int parts = 1) {
        const Sharding other = usual == Sharding::Row ? Sharding::Column : Sharding::Row;
        std::string of_weight = name + ".weight";
        const Sharding sharding =
            builder.sharding_of(of_weight, {usual, other, Sharding::Replicated});
        const bool column = sharding == Sharding::Column;
        Parameter weight{
            std::move(of_weight), {outputs, inputs}, sharding, column ? 0 : 1, parts, {}};
        if (weight_format(builder.model().family).transposed) {
            weight.shape = {inputs, outputs};
            weight.cut_dimension = column ? 1 : 0;
            weight.transposed = true;
        }
        weight.initial = weights;
        indices.weights.push_back(builder.parameter(std::move(weight)));
        if (!biased) return;
        // A bias is cut like the outputs; a line that names it together with its weight means this.
        const Sharding along = column ? Sharding::Column : Sharding::Replicated;
        std::string of_bias = name + ".bias";
        const Sharding asked = builder.asked_for(of_bias, along);
        if (asked != along && asked != sharding) {
            builder.refuse(fmt::format("'{}.bias' cannot be {} with a weight that is {}", name,
                                       word(asked), word(sharding)));
        }
        Parameter bias{std::move(of_bias), {outputs}, along, 0, parts, {}};
        bias.initial = Initial::Zeros;
        indices.biases.push_back(builder.parameter(std::move(bias)));
    }
};

/// The weights that lead back into the residual stream.
Initial into_stream(const Architecture& model) {
    return model.family == Family::Gpt2 ? Initial::Residual : Initial::Normal;
}

/// OLMo 2's and Gemma 2's names where norms stand after the parts of a layer, which give another
/// meaning to those of Llama.
void name_norms_after(LayerNames& names, NormPosition norms) {
    if (norms == NormPosition::Before) return;
    names.norm1_after = "post_attention_layernorm";
    names.norm2 = "pre_feedforward_layernorm";
    names.norm2_after = "post_feedforward_layernorm";
}

/// Files hold the experts of a layer in one tensor.
LayerNames llama4_names(int layer) {
    return {.prefix = fmt::format("model.layers.{}.", layer),
            .norm1 = "input_layernorm",
            .attention = "self_attn",
            .qkv = "self_attn.qkv_proj",
            .queries_keys_values = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
            .projection = "self_attn.o_proj",
            .norm2 = "post_attention_layernorm",
            .mlp = "feed_forward",
            .fc1 = "feed_forward.up_proj",
            .gate = "feed_forward.gate_proj",
            .fc2 = "feed_forward.down_proj",
            .router = "feed_forward.router",
            .experts = "feed_forward.experts",
            .of_expert = {"gate_proj", "up_proj", "down_proj"},
            .shared_experts = "feed_forward.shared_expert"};
}

LayerNames qwen3_next_names(const Layer& layer, int index) {
    const bool recurrent = layer.is_recurrent() && !layer.beside;
    return {.prefix = fmt::format("model.layers.{}.", index),
            .norm1 = "input_layernorm",
            .attention = recurrent ? "linear_attn" : "self_attn",
            .qkv = "self_attn.qkv_proj",
            .queries_keys_values = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
            .projection = recurrent ? "linear_attn.out_proj" : "self_attn.o_proj",
            .norm2 = "post_attention_layernorm",
            .mlp = "mlp",
            .fc1 = "mlp.up_proj",
            .gate = "mlp.gate_proj",
            .fc2 = "mlp.down_proj",
            .router = "mlp.gate",
            .experts = "mlp.experts",
            .of_expert = {"gate_proj", "up_proj", "down_proj"},
            .shared_experts = "mlp.shared_expert",
            .shared_gate = "mlp.shared_expert_gate"};
}

/// Names after Hugging Face's usual ones; no file has them.
LayerNames planned_names(const Layer& layer, int index) {
    LayerNames names = qwen3_next_names(layer, index);
    names.shared_experts = "mlp.shared_experts";
    name_norms_after(names, layer.norms);
    return names;
}

/// Each layer has one norm and one part, whatever it is.
LayerNames nemotron_h_names(const Layer& layer, int index) {
    return {.prefix = fmt::format("backbone.layers.{}.", index),
            .norm1 = "norm",
            .attention = "mixer",
            .qkv = "mixer.qkv_proj",
            .queries_keys_values = {"mixer.q_proj", "mixer.k_proj", "mixer.v_proj"},
            .projection = layer.is_recurrent() ? "mixer.out_proj" : "mixer.o_proj",
            .norm2 = layer.mixes() && layer.has_mlp() ? "mlp_norm" : "norm",
            .mlp = "mixer",
            .fc1 = "mixer.up_proj",
            .gate = "mixer.gate_proj",
            .fc2 = "mixer.down_proj",
            .router = "mixer.gate",
            .experts = "mixer.experts",
            .of_expert = {"gate_proj", "up_proj", "down_proj"},
            .shared_experts = "mixer.shared_experts"};
}

}  // namespace

LayerNames layer_names(const Architecture& model, int layer) {
    switch (model.family) {
        case Family::Gpt2:
            return {.prefix = fmt::format("h.{}.", layer),
                    .norm1 = "ln_1",
                    .attention = "attn",
                    .qkv = "attn.c_attn",
                    .queries_keys_values = {},
                    .projection = "attn.c_proj",
                    .norm2 = "ln_2",
                    .mlp = "mlp",
                    .fc1 = "mlp.c_fc",
                    .gate = "",
                    .fc2 = "mlp.c_proj"};
        case Family::GptNeox:
            return {.prefix = fmt::format("gpt_neox.layers.{}.", layer),
                    .norm1 = "input_layernorm",
                    .attention = "attention",
                    .qkv = "attention.query_key_value",
                    .queries_keys_values = {},
                    .projection = "attention.dense",
                    .norm2 = "post_attention_layernorm",
                    .mlp = "mlp",
                    .fc1 = "mlp.dense_h_to_4h",
                    .gate = "",
                    .fc2 = "mlp.dense_4h_to_h"};
        case Family::Mpt:
            return {.prefix = fmt::format("transformer.blocks.{}.", layer),
                    .norm1 = "norm_1",
                    .attention = "attn",
                    .qkv = "attn.Wqkv",
                    .queries_keys_values = {},
                    .projection = "attn.out_proj",
                    .norm2 = "norm_2",
                    .mlp = "ffn",
                    .fc1 = "ffn.up_proj",
                    .gate = "",
                    .fc2 = "ffn.down_proj"};
        case Family::Llama4: return llama4_names(layer);
        case Family::Llama:
        case Family::Phi3:
        case Family::GptOss:
        case Family::Deepseek: {
            const bool mixtral = model.family == Family::Llama;
            LayerNames names{
                .prefix = fmt::format("model.layers.{}.", layer),
                .norm1 = "input_layernorm",
                .attention = "self_attn",
                .qkv = "self_attn.qkv_proj",
                .queries_keys_values = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                .projection = "self_attn.o_proj",
                .norm2 = "post_attention_layernorm",
                .mlp = "mlp",
                .fc1 = "mlp.up_proj",
                .gate = "mlp.gate_proj",
                .fc2 = "mlp.down_proj",
                .router = mixtral                          ? "block_sparse_moe.gate"
                          : model.family == Family::GptOss ? "mlp.router"
                                                           : "mlp.gate",
                .experts = mixtral ? "block_sparse_moe.experts" : "mlp.experts",
                .of_expert = mixtral ? std::array{"w1", "w3", "w2"}
                                     : std::array{"gate_proj", "up_proj", "down_proj"},
                .shared_experts = "mlp.shared_experts"};
            name_norms_after(names, model.layer_at(layer).norms);
            return names;
        }
        case Family::Qwen3Next: return qwen3_next_names(model.layer_at(layer), layer);
        case Family::NemotronH: return nemotron_h_names(model.layer_at(layer), layer);
        case Family::Planned: return planned_names(model.layer_at(layer), layer);
        case Family::Vit:
            return {.prefix = fmt::format("vit.encoder.layer.{}.", layer),
                    .norm1 = "layernorm_before",
                    .attention = "attention",
                    .qkv = "attention.attention",
                    .queries_keys_values = {"attention.attention.query", "attention.attention.key",
                                            "attention.attention.value"},
                    .projection = "attention.output.dense",
                    .norm2 = "layernorm_after",
                    .mlp = "mlp",
                    .fc1 = "intermediate.dense",
                    .gate = "",
                    .fc2 = "output.dense"};
    }
    return {};
}

StageNames stage_names(const Architecture& model) {
    switch (model.family) {
        case Family::Gpt2: return {"wte.weight", "wpe.weight", "ln_f", "lm_head.weight"};
        case Family::GptNeox:
            return {"gpt_neox.embed_in.weight", "gpt_neox.embed_positions.weight",
                    "gpt_neox.final_layer_norm", "embed_out.weight"};
        case Family::Mpt:
            return {"transformer.wte.weight", "transformer.wpe.weight", "transformer.norm_f",
                    "lm_head.weight"};
        case Family::Llama:
        case Family::Phi3:
        case Family::GptOss:
        case Family::Llama4:
        case Family::Deepseek:
            return {"model.embed_tokens.weight", "model.embed_positions.weight", "model.norm",
                    "lm_head.weight"};
        case Family::Planned:
        case Family::Qwen3Next:
            return {"model.embed_tokens.weight", "model.embed_positions.weight", "model.norm",
                    "lm_head.weight"};
        case Family::NemotronH:
            return {"backbone.embeddings.weight", "backbone.positions.weight", "backbone.norm_f",
                    "lm_head.weight"};
        case Family::Vit:
            return {"vit.embeddings.patch_embeddings.projection",
                    "vit.embeddings.position_embeddings", "vit.layernorm", "classifier"};
    }
    return {};
}

std::vector<int> norm_parameters(GraphBuilder& builder, const std::string& name) {
    const std::int64_t hidden = builder.model().hidden;
    std::vector<int> indices = {builder.norm_weight(name + ".weight", hidden)};
    if (builder.model().norm == Norm::LayerNorm && builder.model().norm_bias) {
        indices.push_back(builder.whole_parameter(name + ".bias", {hidden}, Initial::Zeros));
    }
    return indices;
}

LinearParameters qkv_parameters(GraphBuilder& builder, const LayerNames& names) {
    const std::int64_t hidden = builder.model().hidden;
    const Attention& attention = builder.attention();
    const std::int64_t queries = (attention.output_gate ? 2 : 1) * attention.query_width();
    const std::array<std::int64_t, 3> widths{queries, attention.key_width(),
                                             attention.value_width()};
    ParameterNamer parameters{builder};
    if (names.queries_keys_values.empty())
        parameters.add(names.prefix + names.qkv, hidden, widths[0] + widths[1] + widths[2],
                       Sharding::Column, attention.qkv_bias, 3);
    for (const std::string& name : names.queries_keys_values) {
        const std::size_t index = parameters.indices.weights.size();
        if (index == 2 && attention.keys_are_values) break;
        const std::int64_t outputs = widths.at(index);
        parameters.add(names.prefix + name, hidden, outputs, Sharding::Column, attention.qkv_bias);
    }
    return parameters.indices;
}

LinearParameters projection_parameters(GraphBuilder& builder, const LayerNames& names,
                                       std::int64_t inputs, bool biased) {
    const Architecture& model = builder.model();
    ParameterNamer parameters{builder, into_stream(model)};
    parameters.add(names.prefix + names.projection, inputs, model.hidden, Sharding::Row, biased);
    return parameters.indices;
}

LinearParameters fc1_parameters(GraphBuilder& builder, const LayerNames& names,
                                const DenseMlp& mlp) {
    const std::int64_t hidden = builder.model().hidden;
    const bool gated = is_gated(mlp.activation);
    ParameterNamer parameters{builder};
    if (gated && !names.gate.empty()) {
        parameters.add(names.prefix + names.gate, hidden, mlp.ffn, Sharding::Column, mlp.bias);
        parameters.add(names.prefix + names.fc1, hidden, mlp.ffn, Sharding::Column, mlp.bias);
        return parameters.indices;
    }
    const int parts = gated ? 2 : 1;
    parameters.add(names.prefix + names.fc1, hidden, parts * mlp.ffn, Sharding::Column, mlp.bias,
                   parts);
    return parameters.indices;
}

LinearParameters fc2_parameters(GraphBuilder& builder, const LayerNames& names,
                                const DenseMlp& mlp) {
    ParameterNamer parameters{builder, into_stream(builder.model())};
    parameters.add(names.prefix + names.fc2, mlp.ffn, builder.model().hidden, Sharding::Row,
                   mlp.bias);
    return parameters.indices;
}

}  // namespace debubble::models
