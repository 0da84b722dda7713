#include "models/hf_config_reader.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "models/architecture_check.h"
#include "models/architecture_limits.h"
#include "models/hf_config.h"
#include "text/mapping_reader.h"

/// Defaults are those of transformers' GPT2Config, LlamaConfig, MixtralConfig and ViTConfig,
/// which write only what differs; networks after Llama are in hf_modern_configs.cpp.
namespace debubble::models {
namespace {

enum class Type : std::uint8_t {
    Gpt2,
    GptNeox,
    Mpt,
    Llama,
    Mistral,
    Mixtral,
    Qwen2,
    Qwen2Moe,
    Qwen3,
    Qwen3Moe,
    Qwen3Next,
    NemotronH,
    DeepseekV2,
    DeepseekV3,
    Glm4Moe,
    Gemma2,
    Gemma3,
    GptOss,
    Llama4,
    Nemotron,
    Phi3,
    Olmo2,
    Vit
};
constexpr std::pair<std::string_view, Type> kTypes[] = {{"gpt2", Type::Gpt2},
                                                        {"gpt_neox", Type::GptNeox},
                                                        {"mpt", Type::Mpt},
                                                        {"llama", Type::Llama},
                                                        {"mistral", Type::Mistral},
                                                        {"mixtral", Type::Mixtral},
                                                        {"qwen2", Type::Qwen2},
                                                        {"qwen2_moe", Type::Qwen2Moe},
                                                        {"qwen3", Type::Qwen3},
                                                        {"qwen3_moe", Type::Qwen3Moe},
                                                        {"qwen3_next", Type::Qwen3Next},
                                                        {"nemotron_h", Type::NemotronH},
                                                        {"deepseek_v2", Type::DeepseekV2},
                                                        {"deepseek_v3", Type::DeepseekV3},
                                                        {"kimi_k2", Type::DeepseekV3},
                                                        {"glm4_moe", Type::Glm4Moe},
                                                        {"gemma2", Type::Gemma2},
                                                        {"gemma3_text", Type::Gemma3},
                                                        {"gemma3", Type::Gemma3},
                                                        {"gpt_oss", Type::GptOss},
                                                        {"llama4_text", Type::Llama4},
                                                        {"llama4", Type::Llama4},
                                                        {"nemotron", Type::Nemotron},
                                                        {"phi3", Type::Phi3},
                                                        {"olmo2", Type::Olmo2},
                                                        {"vit", Type::Vit}};
constexpr std::pair<std::string_view, Activation> kUngated[] = {
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"gelu", Activation::Gelu},
    {"relu", Activation::Relu}};
constexpr std::pair<std::string_view, Activation> kGated[] = {{"silu", Activation::Swiglu},
                                                              {"swish", Activation::Swiglu}};

void read_gpt2(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.family = Family::Gpt2;
    config.layers = 12;
    a.hidden = 768;
    layer.heads = 12;
    a.vocab = 50257;
    a.max_positions = 1024;
    a.dropout = 0.1;
    in.whole("n_layer", config.layers, 1, kMostLayers);
    in.whole("n_embd", a.hidden, 1, kWidest);
    in.whole("n_head", layer.heads, 1, kMostHeads);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.whole("n_positions", a.max_positions, 1, kMostPositions);
    layer.kv_heads = layer.heads;
    cut_heads(in, config, "n_head");
    layer.ffn = 4 * a.hidden;
    in.whole("n_inner", layer.ffn, 1, kWidestMlp);
    in.word("activation_function", layer.activation, kUngated);
    in.real("layer_norm_epsilon", a.norm_eps, 0, 1);
    in.real("resid_pdrop", a.dropout, 0, 0.999);
    refuse_flag(in, "scale_attn_by_inverse_layer_idx");
    bool scaled = true;
    if (in.flag("scale_attn_weights", scaled) && !scaled)
        in.complain("scale_attn_weights", "attention scores without scaling are not supported");
    in.flag("tie_word_embeddings", a.tied_embedding);
}

void read_llama(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.vocab = 32000;
    a.max_positions = 2048;
    layer.ffn = 11008;
    a.norm_eps = 1e-6;
    layer.kv_heads = 0;  // 0 means as many as heads
    read_llama_kind(in, config);
    read_biases(in, layer);
}

void read_mixtral(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.vocab = 32000;
    a.max_positions = 131072;
    layer.ffn = 14336;
    a.norm_eps = 1e-5;
    layer.rope_theta = 1e6;
    layer.kv_heads = 8;
    layer.experts = 8;
    layer.experts_per_token = 2;
    read_llama_kind(in, config);
    in.whole("num_local_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    std::int64_t window = 0;
    if (in.whole("sliding_window", window, 1, kMostPositions) && window < a.max_positions)
        layer.window = window;
}

/// Classes of the head: transformers derives num_labels from id2label.
void read_labels(text::MappingReader& in, Architecture& a) {
    a.vocab = 2;
    if (const text::NodePtr labels = in.value("id2label"); labels && !labels->entries.empty())
        a.vocab = static_cast<std::int64_t>(labels->entries.size());
    in.whole("num_labels", a.vocab, 1, kLargestVocabulary);
}

void read_vit(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.family = Family::Vit;
    a.causal = false;
    a.tied_embedding = false;
    layer.activation = Activation::Gelu;
    config.layers = 12;
    a.hidden = 768;
    layer.heads = 12;
    layer.ffn = 3072;
    a.norm_eps = 1e-12;
    std::int64_t image = 224;
    std::int64_t patch = 16;
    std::int64_t channels = 3;
    in.whole("num_hidden_layers", config.layers, 1, kMostLayers);
    in.whole("hidden_size", a.hidden, 1, kWidest);
    in.whole("num_attention_heads", layer.heads, 1, kMostHeads);
    in.whole("intermediate_size", layer.ffn, 1, kWidestMlp);
    in.whole("image_size", image, 1, kLargestImage);
    in.whole("patch_size", patch, 1, kLargestImage);
    in.whole("num_channels", channels, 1, kLargestImage);
    a.image_size = image;
    a.patch_size = patch;
    a.channels = channels;
    a.max_positions = vit_positions(a);
    layer.kv_heads = layer.heads;
    cut_heads(in, config, "num_attention_heads");
    read_labels(in, a);
    in.word("hidden_act", layer.activation, kUngated);
    in.real("layer_norm_eps", a.norm_eps, 0, 1);
    in.real("hidden_dropout_prob", a.dropout, 0, 0.999);
    bool qkv_bias = true;
    if (in.flag("qkv_bias", qkv_bias) && !qkv_bias)
        in.complain("qkv_bias", "a ViT without biases on q, k and v is not supported");
}

}  // namespace

void refuse_flag(text::MappingReader& in, std::string_view key) {
    bool set = false;
    if (in.flag(key, set) && set)
        in.complain(key, fmt::format("networks with '{}' are not supported", key));
}

void refuse_given(text::MappingReader& in, std::string_view key, std::string_view sentence) {
    if (in.value(key)) in.complain(key, std::string(sentence));
}

bool is_null(const text::MappingReader& in, std::string_view key) {
    const text::NodePtr found = in.mapping()->get(key);
    return found && found->is(text::Node::Kind::Null);
}

void demand_sizes(text::MappingReader& in) {
    for (const std::string_view key : {"num_hidden_layers", "hidden_size", "num_attention_heads",
                                       "vocab_size", "max_position_embeddings"})
        in.demand(key);
}

void cut_heads(text::MappingReader& in, Config& config, std::string_view heads_key) {
    const std::int64_t hidden = config.network.hidden;
    const std::int64_t heads = config.layer.heads;
    config.layer.head_dim = std::max<std::int64_t>(1, hidden / heads);
    if (hidden % heads != 0)
        in.complain(heads_key,
                    fmt::format("{} heads do not divide the width of {}", heads, hidden));
}

void read_biases(text::MappingReader& in, LayerKeys& layer) {
    bool attention = false;
    if (in.flag("attention_bias", attention) && attention)
        layer.qkv_bias = layer.output_bias = true;
    in.flag("mlp_bias", layer.linear_bias);
    if (layer.linear_bias && !attention) layer.qkv_bias = layer.output_bias = false;
}

void read_llama_kind(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.family = Family::Llama;
    a.norm = Norm::RmsNorm;
    layer.activation = config.usual_activation;
    a.learned_positions = false;
    layer.rotary = true;
    layer.linear_bias = false;
    a.tied_embedding = false;
    config.layers = config.usual_layers;
    a.hidden = config.usual_hidden;
    layer.heads = config.usual_heads;
    in.whole("num_hidden_layers", config.layers, 1, kMostLayers);
    in.whole("hidden_size", a.hidden, 1, kWidest);
    in.whole("num_attention_heads", layer.heads, 1, kMostHeads);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.whole("max_position_embeddings", a.max_positions, 1, kMostPositions);
    in.whole("intermediate_size", layer.ffn, 1, kWidestMlp);
    if (layer.kv_heads == 0) layer.kv_heads = layer.heads;
    in.whole("num_key_value_heads", layer.kv_heads, 1, kMostHeads);
    if (!in.whole("head_dim", layer.head_dim, 1, kWidest)) {
        if (config.usual_head_dim)
            layer.head_dim = *config.usual_head_dim;
        else
            cut_heads(in, config, "num_attention_heads");
    }
    if (config.activations.empty())
        in.word(config.activation_key, layer.activation, kGated);
    else
        in.word(config.activation_key, layer.activation, config.activations);
    in.real("rms_norm_eps", a.norm_eps, 0, 1);
    read_rope(in, config);
    in.flag("tie_word_embeddings", a.tied_embedding);
}

std::vector<LayerKeys>& layers_of(Config& config) {
    if (!config.each.empty()) return config.each;
    config.each.assign(static_cast<std::size_t>(config.layers), config.layer);
    for (std::size_t i = 0; i < config.each.size(); ++i)
        if (std::cmp_less(i, config.dense_first) || (i < config.dense.size() && config.dense[i]))
            without_experts(config.each[i], config);
    return config.each;
}

void without_experts(LayerKeys& layer, const Config& config) {
    layer.experts = 0;
    layer.ffn = config.dense_ffn;
}

Architecture network_of(Config config) {
    config.network.layers = config.listed.value_or(Layers());
    if (!config.listed)
        for (const LayerKeys& layer : layers_of(config))
            config.network.layers.append(layer_of(layer));
    for (const std::string& note : config.notes) config.network.source += ", " + note;
    return std::move(config.network);
}

namespace {

/// Networks whose attention chooses what a token sees, or keeps it shortened.
constexpr std::string_view kSparse[] = {"deepseek_v32", "deepseek_v4", "glm_moe_dsa"};
constexpr std::string_view kSparseKeys[] = {"index_topk", "index_n_heads", "index_head_dim",
                                            "compress_ratios", "compress_rope_theta"};

void refuse_sparse(text::MappingReader& in) {
    constexpr std::string_view kSentence =
        "sparse and compressed attention, whose tokens choose what they see, is not planned";
    const text::NodePtr type = in.mapping()->get("model_type");
    if (type && std::ranges::find(kSparse, type->scalar) != std::end(kSparse))
        return in.complain("model_type", std::string(kSentence));
    for (const std::string_view key : kSparseKeys)
        if (in.has(key)) return in.complain(key, std::string(kSentence));
}

/// The map that describes the text model, of a network that also sees images.
text::NodePtr text_model(text::MappingReader& outer, Config& config) {
    const text::NodePtr& map = outer.mapping();
    const text::NodePtr inner = map->get("text_config");
    if (!inner || !inner->is(text::Node::Kind::Map)) return map;
    for (const std::string_view key : {"vision_config", "audio_config"}) outer.value(key);
    config.notes.emplace_back("its text model alone");
    return inner;
}

void read_type(Type type, text::MappingReader& in, Config& config) {
    switch (type) {
        case Type::Gpt2: return read_gpt2(in, config);
        case Type::GptNeox: return read_gpt_neox(in, config);
        case Type::Mpt: return read_mpt(in, config);
        case Type::Llama: return read_llama(in, config);
        case Type::Mistral: return read_mistral(in, config);
        case Type::Mixtral: return read_mixtral(in, config);
        case Type::Qwen2: return read_qwen2(in, config);
        case Type::Qwen2Moe: return read_qwen2_moe(in, config);
        case Type::Qwen3: return read_qwen3(in, config);
        case Type::Qwen3Moe: return read_qwen3_moe(in, config);
        case Type::Qwen3Next: return read_qwen3_next(in, config);
        case Type::NemotronH: return read_nemotron_h(in, config);
        case Type::DeepseekV2: return read_deepseek_v2(in, config);
        case Type::DeepseekV3: return read_deepseek_v3(in, config);
        case Type::Glm4Moe: return read_glm4_moe(in, config);
        case Type::Gemma2: return read_gemma2(in, config);
        case Type::Gemma3: return read_gemma3(in, config);
        case Type::GptOss: return read_gpt_oss(in, config);
        case Type::Llama4: return read_llama4(in, config);
        case Type::Nemotron: return read_nemotron(in, config);
        case Type::Phi3: return read_phi3(in, config);
        case Type::Olmo2: return read_olmo2(in, config);
        case Type::Vit: return read_vit(in, config);
    }
}

/// A network that also sees images has a map of its text model inside; else both are one map, which
/// two readers have asked.
void note_unread_of_file(const text::MappingReader& outer, const text::MappingReader& in,
                         Architecture& network) {
    std::vector<std::string_view> keys = in.unasked();
    const std::vector<std::string_view> of_outer = outer.unasked();
    if (outer.mapping() == in.mapping())
        std::erase_if(keys, [&](std::string_view key) {
            return std::ranges::find(of_outer, key) == of_outer.end();
        });
    else
        keys.insert(keys.end(), of_outer.begin(), of_outer.end());
    const std::string note = unread_keys(keys, *in.mapping(), network.dropout);
    if (!note.empty()) network.source += ", " + note;
}

}  // namespace

bool is_hf_config(const text::Node& map) {
    return map.find("model_type") != nullptr && map.find("family") == nullptr;
}

Architecture read_hf_config(const text::NodePtr& map, text::Mistakes& mistakes) {
    text::MappingReader outer(map, "config", mistakes);
    Config config;
    Architecture& a = config.network;
    a.name = "config";
    outer.text("_name_or_path", a.name);
    if (a.name.empty()) a.name = "config";
    a.source = map->place.source ? map->place.source->file : "config.json";
    refuse_sparse(outer);
    Type type{};
    if (!outer.good()) return std::move(a);
    if (!outer.word("model_type", type, kTypes)) {
        if (outer.good()) outer.complain("model_type", "'model_type' names no kind of network");
        return std::move(a);
    }
    text::MappingReader in(text_model(outer, config), "config", mistakes);
    refuse_sparse(in);
    refuse_beyond(in);
    read_type(type, in, config);
    note_beyond(in, config);
    Architecture network = network_of(std::move(config));
    if (outer.good() && in.good()) override_config(outer, network);
    note_unread_of_file(outer, in, network);
    if (outer.good() && in.good()) check_architecture(network, in);
    return network;
}

}  // namespace debubble::models
