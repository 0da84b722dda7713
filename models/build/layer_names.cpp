#include "models/build/layer_names.h"

#include <array>
#include <optional>
#include <string_view>

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

constexpr std::array<const char*, 3> kSplit{"q_proj", "k_proj", "v_proj"};
constexpr std::array<const char*, 3> kGatedExpert{"gate_proj", "up_proj", "down_proj"};

/// The names of a family's tensors. Those of attention lie in `attention`, the others are whole.
struct FamilyNames {
    struct Block {
        const char* prefix;  ///< before a layer's number
        const char* norm1;
        const char* norm2;
        const char* attention;
        const char* qkv;
        std::array<const char*, 3> split;  ///< null where `qkv` is one tensor
        const char* projection;
        const char* mlp;
        const char* fc1;
        const char* gate;
        const char* fc2;
    };
    struct Routed {
        const char* router = "";
        const char* experts = "";
        std::array<const char*, 3> of_expert = {};
        const char* shared = "";
        const char* shared_gate = "";
    };
    Block block;
    Routed routed;
    std::array<const char*, 4> ends;  ///< of StageNames
};

// clang-format off
constexpr FamilyNames::Block kLlamaBlock{
    "model.layers.", "input_layernorm", "post_attention_layernorm",
    "self_attn", "qkv_proj", kSplit, "o_proj",
    "mlp", "mlp.up_proj", "mlp.gate_proj", "mlp.down_proj"};
constexpr std::array<const char*, 4> kLlamaEnds{
    "model.embed_tokens.weight", "model.embed_positions.weight", "model.norm", "lm_head.weight"};
constexpr FamilyNames kGpt2{
    {"h.", "ln_1", "ln_2", "attn", "c_attn", {}, "c_proj", "mlp", "mlp.c_fc", "", "mlp.c_proj"},
    {},
    {"wte.weight", "wpe.weight", "ln_f", "lm_head.weight"}};
constexpr FamilyNames kGptNeox{
    {"gpt_neox.layers.", "input_layernorm", "post_attention_layernorm",
     "attention", "query_key_value", {}, "dense",
     "mlp", "mlp.dense_h_to_4h", "", "mlp.dense_4h_to_h"},
    {},
    {"gpt_neox.embed_in.weight", "gpt_neox.embed_positions.weight", "gpt_neox.final_layer_norm",
     "embed_out.weight"}};
constexpr FamilyNames kMpt{
    {"transformer.blocks.", "norm_1", "norm_2", "attn", "Wqkv", {}, "out_proj",
     "ffn", "ffn.up_proj", "", "ffn.down_proj"},
    {},
    {"transformer.wte.weight", "transformer.wpe.weight", "transformer.norm_f", "lm_head.weight"}};
constexpr FamilyNames kMixtral{  // Llama's, whose experts are Mixtral's
    kLlamaBlock,
    {"block_sparse_moe.gate", "block_sparse_moe.experts", {"w1", "w3", "w2"}, "mlp.shared_experts"},
    kLlamaEnds};
constexpr FamilyNames kDeepseek{
    kLlamaBlock, {"mlp.gate", "mlp.experts", kGatedExpert, "mlp.shared_experts"}, kLlamaEnds};
constexpr FamilyNames kGptOss{
    kLlamaBlock, {"mlp.router", "mlp.experts", kGatedExpert, "mlp.shared_experts"}, kLlamaEnds};
constexpr FamilyNames kLlama4{  // files hold the experts of a layer in one tensor
    {"model.layers.", "input_layernorm", "post_attention_layernorm",
     "self_attn", "qkv_proj", kSplit, "o_proj",
     "feed_forward", "feed_forward.up_proj", "feed_forward.gate_proj", "feed_forward.down_proj"},
    {"feed_forward.router", "feed_forward.experts", kGatedExpert, "feed_forward.shared_expert"},
    kLlamaEnds};
constexpr FamilyNames kQwen3Next{
    kLlamaBlock,
    {"mlp.gate", "mlp.experts", kGatedExpert, "mlp.shared_expert", "mlp.shared_expert_gate"},
    kLlamaEnds};
constexpr FamilyNames kPlanned{  // names like Hugging Face's usual ones; no file has them
    kLlamaBlock,
    {"mlp.gate", "mlp.experts", kGatedExpert, "mlp.shared_experts", "mlp.shared_expert_gate"},
    kLlamaEnds};
constexpr FamilyNames kNemotronH{  // each layer has one norm and one part
    {"backbone.layers.", "norm", "norm", "mixer", "qkv_proj", kSplit, "o_proj",
     "mixer", "mixer.up_proj", "mixer.gate_proj", "mixer.down_proj"},
    {"mixer.gate", "mixer.experts", kGatedExpert, "mixer.shared_experts"},
    {"backbone.embeddings.weight", "backbone.positions.weight", "backbone.norm_f",
     "lm_head.weight"}};
constexpr FamilyNames kVit{
    {"vit.encoder.layer.", "layernorm_before", "layernorm_after",
     "attention", "attention", {"attention.query", "attention.key", "attention.value"},
     "output.dense", "mlp", "intermediate.dense", "", "output.dense"},
    {},
    {"vit.embeddings.patch_embeddings.projection", "vit.embeddings.position_embeddings",
     "vit.layernorm", "classifier"}};
// clang-format on

const FamilyNames& names_of(Family family) {
    switch (family) {
        case Family::Gpt2: return kGpt2;
        case Family::GptNeox: return kGptNeox;
        case Family::Mpt: return kMpt;
        case Family::Llama: return kMixtral;
        case Family::Phi3:
        case Family::Deepseek: return kDeepseek;
        case Family::GptOss: return kGptOss;
        case Family::Llama4: return kLlama4;
        case Family::Qwen3Next: return kQwen3Next;
        case Family::NemotronH: return kNemotronH;
        case Family::Planned: return kPlanned;
        case Family::Vit: return kVit;
    }
    return kLlama4;
}

std::string inside(std::string_view part, std::string_view name) {
    return fmt::format("{}.{}", part, name);
}

/// OLMo 2's and Gemma 2's names where norms stand after the parts of a layer, which give another
/// meaning to those of Llama.
void name_norms_after(LayerNames& names, NormPosition norms) {
    if (norms == NormPosition::Before) return;
    names.norm1_after = "post_attention_layernorm";
    names.norm2 = "pre_feedforward_layernorm";
    names.norm2_after = "post_feedforward_layernorm";
}

/// Names that depend on the parts that a layer has.
void name_parts(LayerNames& names, Family family, const Layer& layer) {
    switch (family) {
        case Family::Qwen3Next:
        case Family::Planned:
            if (layer.is_recurrent() && !layer.beside) {
                names.attention = "linear_attn";
                names.projection = "linear_attn.out_proj";
            }
            if (family == Family::Planned) name_norms_after(names, layer.norms);
            return;
        case Family::NemotronH:
            if (layer.is_recurrent()) names.projection = "mixer.out_proj";
            if (layer.mixes() && layer.has_mlp()) names.norm2 = "mlp_norm";
            return;
        case Family::Llama:
        case Family::Phi3:
        case Family::GptOss:
        case Family::Deepseek: name_norms_after(names, layer.norms); return;
        case Family::Gpt2:
        case Family::GptNeox:
        case Family::Mpt:
        case Family::Llama4:
        case Family::Vit: return;
    }
}

std::optional<std::string> unless_empty(std::string_view name) {
    if (name.empty()) return std::nullopt;
    return std::string(name);
}

}  // namespace

LayerNames layer_names(const Architecture& model, int layer) {
    const auto& [block, routed, ends] = names_of(model.family);
    LayerNames names{.prefix = fmt::format("{}{}.", block.prefix, layer),
                     .norm1 = block.norm1,
                     .attention = block.attention,
                     .qkv = inside(block.attention, block.qkv),
                     .queries_keys_values = {},
                     .projection = inside(block.attention, block.projection),
                     .norm2 = block.norm2,
                     .mlp = block.mlp,
                     .fc1 = block.fc1,
                     .gate = unless_empty(block.gate),
                     .fc2 = block.fc2,
                     .router = routed.router,
                     .experts = routed.experts,
                     .of_expert = routed.of_expert,
                     .shared_experts = routed.shared,
                     .shared_gate = routed.shared_gate};
    if (block.split.front() != nullptr) names.queries_keys_values.emplace();
    for (const char* const name : block.split)
        if (name != nullptr) names.queries_keys_values->push_back(inside(block.attention, name));
    name_parts(names, model.family, model.layer_at(layer));
    return names;
}

StageNames stage_names(const Architecture& model) {
    const auto& ends = names_of(model.family).ends;
    return {ends[0], ends[1], ends[2], ends[3]};
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
    if (!names.queries_keys_values)
        parameters.add(names.prefix + names.qkv, hidden, widths[0] + widths[1] + widths[2],
                       Sharding::Column, attention.qkv_bias, 3);
    for (const std::string& name : names.queries_keys_values.value_or(std::vector<std::string>())) {
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
    if (gated && names.gate) {
        parameters.add(names.prefix + *names.gate, hidden, mlp.ffn, Sharding::Column, mlp.bias);
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
