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
    Llama,
    Mistral,
    Mixtral,
    Qwen2,
    Qwen3,
    Qwen3Moe,
    Qwen3Next,
    NemotronH,
    DeepseekV2,
    DeepseekV3,
    Vit
};
constexpr std::pair<std::string_view, Type> kTypes[] = {{"gpt2", Type::Gpt2},
                                                        {"llama", Type::Llama},
                                                        {"mistral", Type::Mistral},
                                                        {"mixtral", Type::Mixtral},
                                                        {"qwen2", Type::Qwen2},
                                                        {"qwen3", Type::Qwen3},
                                                        {"qwen3_moe", Type::Qwen3Moe},
                                                        {"qwen3_next", Type::Qwen3Next},
                                                        {"nemotron_h", Type::NemotronH},
                                                        {"deepseek_v2", Type::DeepseekV2},
                                                        {"deepseek_v3", Type::DeepseekV3},
                                                        {"kimi_k2", Type::DeepseekV3},
                                                        {"vit", Type::Vit}};
constexpr std::pair<std::string_view, Activation> kUngated[] = {
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"gelu", Activation::Gelu},
    {"relu", Activation::Relu}};
constexpr std::pair<std::string_view, Activation> kGated[] = {{"silu", Activation::Swiglu},
                                                              {"swish", Activation::Swiglu}};

/// Both the number of heads and the width are given; head_dim is the width of one head.
void cut_heads(text::MappingReader& in, Config& config, std::string_view heads_key) {
    const std::int64_t hidden = config.network.hidden;
    const std::int64_t heads = config.layer.heads;
    config.layer.head_dim = std::max<std::int64_t>(1, hidden / heads);
    if (hidden % heads != 0)
        in.complain(heads_key,
                    fmt::format("{} heads do not divide the width of {}", heads, hidden));
}

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
    a.max_positions = 2048;
    layer.ffn = 11008;
    a.norm_eps = 1e-6;
    layer.kv_heads = 0;  // 0 means as many as heads
    read_llama_kind(in, config);
    refuse_flag(in, "attention_bias");
    refuse_flag(in, "mlp_bias");
}

void read_mixtral(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
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
    std::int64_t window = a.max_positions;
    if (in.whole("sliding_window", window, 1, kMostPositions) && window < a.max_positions)
        in.complain(
            "sliding_window",
            fmt::format(
                "attention to the last {} of {} tokens is not supported; null attends to all",
                window, a.max_positions));
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

constexpr std::pair<std::string_view, RopeScaling::Kind> kScalings[] = {
    {"linear", RopeScaling::Kind::Linear},
    {"dynamic", RopeScaling::Kind::Dynamic},
    {"llama3", RopeScaling::Kind::Llama3},
    {"yarn", RopeScaling::Kind::Yarn}};

/// The scaling of a map; `key` is the name of its kind, which was `type` once.
void read_scaling(text::MappingReader& rope, std::string_view key, LayerKeys& layer) {
    RopeScaling scaling;
    rope.demand("factor");
    rope.word(key, scaling.kind, kScalings, "rotary positions");
    rope.real("factor", scaling.factor, 1, 1e6);
    rope.whole("original_max_position_embeddings", scaling.original_positions, 1, kMostPositions);
    rope.real("low_freq_factor", scaling.low_frequency_factor, 0, 1e6);
    rope.real("high_freq_factor", scaling.high_frequency_factor, 0, 1e6);
    rope.real("beta_fast", scaling.beta_fast, 0, 1e6);
    rope.real("beta_slow", scaling.beta_slow, 0, 1e6);
    rope.real("mscale_all_dim", scaling.mscale, 0, 1e6);
    layer.rope_scaling = scaling;
}

void read_rope_map(text::MappingReader& in, std::string_view key, LayerKeys& layer) {
    const text::NodePtr map = in.value(key);
    if (!map) return;
    text::MappingReader rope(map, key, in.mistakes());
    rope.real("rope_theta", layer.rope_theta, 1, 1e12);
    const std::string_view kind = rope.has("rope_type") ? "rope_type" : "type";
    if (key == "rope_scaling") rope.demand(kind);  // in the other map plain positions need no word
    const text::NodePtr word = rope.scalar(kind, "the kind of rotary positions");
    if (word && word->scalar != "default") read_scaling(rope, kind, layer);
}

}  // namespace

void refuse_flag(text::MappingReader& in, std::string_view key) {
    bool set = false;
    if (in.flag(key, set) && set)
        in.complain(key, fmt::format("networks with '{}' are not supported", key));
}

void read_rope(text::MappingReader& in, LayerKeys& layer) {
    in.real("rope_theta", layer.rope_theta, 1, 1e12);
    for (const std::string_view key : {"rope_scaling", "rope_parameters"})
        read_rope_map(in, key, layer);
}

void read_llama_kind(text::MappingReader& in, Config& config) {
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.family = Family::Llama;
    a.norm = Norm::RmsNorm;
    layer.activation = Activation::Swiglu;
    a.learned_positions = false;
    layer.rotary = true;
    layer.linear_bias = false;
    a.tied_embedding = false;
    config.layers = 32;
    a.hidden = 4096;
    layer.heads = 32;
    a.vocab = 32000;
    in.whole("num_hidden_layers", config.layers, 1, kMostLayers);
    in.whole("hidden_size", a.hidden, 1, kWidest);
    in.whole("num_attention_heads", layer.heads, 1, kMostHeads);
    in.whole("vocab_size", a.vocab, 1, kLargestVocabulary);
    in.whole("max_position_embeddings", a.max_positions, 1, kMostPositions);
    in.whole("intermediate_size", layer.ffn, 1, kWidestMlp);
    if (layer.kv_heads == 0) layer.kv_heads = layer.heads;
    in.whole("num_key_value_heads", layer.kv_heads, 1, kMostHeads);
    if (!in.whole("head_dim", layer.head_dim, 1, kWidest))
        cut_heads(in, config, "num_attention_heads");
    in.word("hidden_act", layer.activation, kGated);
    in.real("rms_norm_eps", a.norm_eps, 0, 1);
    read_rope(in, config.layer);
    in.flag("tie_word_embeddings", a.tied_embedding);
}

Architecture network_of(Config config) {
    if (config.listed) {
        config.network.layers = std::move(*config.listed);
        return std::move(config.network);
    }
    LayerKeys dense = config.layer;
    dense.experts = 0;
    dense.ffn = config.dense_ffn;
    const int first = std::min(config.dense_first, config.layers);
    config.network.layers = {};
    if (first > 0) config.network.layers.append(layer_of(dense), first);
    config.network.layers.append(layer_of(config.layer), config.layers - first);
    return std::move(config.network);
}

bool is_hf_config(const text::Node& map) {
    return map.find("model_type") != nullptr && map.find("family") == nullptr;
}

Architecture read_hf_config(const text::NodePtr& map, text::Mistakes& mistakes) {
    text::MappingReader in(map, "config", mistakes);
    Config config;
    Architecture& a = config.network;
    a.name = "config";
    in.text("_name_or_path", a.name);
    if (a.name.empty()) a.name = "config";
    a.source = map->place.source ? map->place.source->file : "config.json";
    Type type{};
    if (!in.word("model_type", type, kTypes)) return std::move(a);
    switch (type) {
        case Type::Gpt2: read_gpt2(in, config); break;
        case Type::Llama: read_llama(in, config); break;
        case Type::Mistral: read_mistral(in, config); break;
        case Type::Mixtral: read_mixtral(in, config); break;
        case Type::Qwen2: read_qwen2(in, config); break;
        case Type::Qwen3: read_qwen3(in, config); break;
        case Type::Qwen3Moe: read_qwen3_moe(in, config); break;
        case Type::Qwen3Next: read_qwen3_next(in, config); break;
        case Type::NemotronH: read_nemotron_h(in, config); break;
        case Type::DeepseekV2: read_deepseek_v2(in, config); break;
        case Type::DeepseekV3: read_deepseek_v3(in, config); break;
        case Type::Vit: read_vit(in, config); break;
    }
    Architecture network = network_of(std::move(config));
    if (in.good()) check_architecture(network, in);
    return network;
}

}  // namespace debubble::models
