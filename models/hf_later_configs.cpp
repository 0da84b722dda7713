#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/architecture_limits.h"
#include "models/hf_config.h"

/// Configurations of networks that are further from Llama: GLM-4.5, gpt-oss, Gemma 2 and 3, OLMo 2,
/// Phi-3, Nemotron and GPT-NeoX. Defaults are those of transformers' classes.
namespace debubble::models {

namespace {

constexpr std::pair<std::string_view, Activation> kGemmaActivations[] = {
    {"gelu_pytorch_tanh", Activation::GegluTanh}, {"gelu", Activation::Geglu}};
constexpr std::pair<std::string_view, Activation> kNemotronActivations[] = {
    {"relu2", Activation::SquaredRelu}};
constexpr std::pair<std::string_view, Activation> kNeoxActivations[] = {
    {"gelu", Activation::Gelu},
    {"gelu_fast", Activation::GeluTanh},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"relu", Activation::Relu}};
constexpr double kMostSoftcap = 1e6;

/// The window of layers that have one; a null, or one as long as the text, is none.
void read_window(text::MappingReader& in, Config& config, std::int64_t usual) {
    std::int64_t window = usual;
    in.whole("sliding_window", window, 1, kMostPositions);
    if (window < config.network.max_positions) config.layer.window = window;
}

void read_softcap(text::MappingReader& in, std::string_view key, std::optional<double>& cap) {
    double value = 0;
    if (in.real(key, value, 1e-6, kMostSoftcap)) cap = value;
}

/// What Gemma 2 and 3 share.
void read_gemma(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    a.norm_eps = 1e-6;
    layer.ffn = 9216;
    layer.kv_heads = 4;
    read_llama_kind(in, config, kGemmaActivations);
    layer.activation = Activation::GegluTanh;
    in.word("hidden_activation", layer.activation, kGemmaActivations);
    if (!in.has("head_dim")) layer.head_dim = 256;
    refuse_flag(in, "attention_bias");
    refuse_flag(in, "use_bidirectional_attention");
    if (!in.has("tie_word_embeddings")) a.tied_embedding = true;
    a.family = Family::Deepseek;
    a.zero_centred_norms = true;
    a.scaled_embedding = true;
    layer.norm_position = NormPosition::Both;
    double scalar = 256;
    in.real("query_pre_attn_scalar", scalar, 1e-6, 1e9);
    if (scalar != static_cast<double>(layer.head_dim)) layer.query_pre_attn_scalar = scalar;
    read_window(in, config, 4096);
}

/// The angles of one kind of Gemma 3's layers, where each kind has a map of its own.
void read_angles(text::MappingReader& in, std::string_view kind, LayerKeys& layer) {
    const text::NodePtr all = in.value("rope_parameters");
    if (!all || !all->get(kind)) return;
    text::MappingReader both(all, "rope_parameters", in.mistakes());
    read_rope_map(both, kind, layer);
}

}  // namespace

void read_layer_types(text::MappingReader& in, Config& config,
                      const std::function<bool(int)>& usual) {
    config.full_layer = config.layer;
    config.full_layer.window.reset();
    std::vector<std::string> types;
    const bool listed = in.has("layer_types") && in.texts("layer_types", types);
    const auto layers = static_cast<std::size_t>(config.layers);
    if (listed && types.size() != layers)
        in.complain("layer_types",
                    fmt::format("{} kinds of layers for {} layers", types.size(), config.layers));
    for (std::size_t i = 0; i < layers; ++i) {
        if (!listed || i >= types.size()) {
            config.full.push_back(usual(static_cast<int>(i)));
            continue;
        }
        config.full.push_back(types[i] == "full_attention");
        if (types[i] == "full_attention" || types[i] == "sliding_attention") continue;
        in.complain("layer_types",
                    fmt::format("a layer of '{}' is not read; there are full_attention and "
                                "sliding_attention",
                                types[i]));
        return;
    }
}

void read_glm4_moe(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    LayerKeys& layer = config.layer;
    config.network.norm_eps = 1e-5;
    layer.ffn = 10944;
    layer.kv_heads = 8;
    read_llama_kind(in, config);
    config.network.family = Family::Deepseek;
    bool biased = false;
    in.flag("attention_bias", biased);
    layer.qkv_bias = biased;
    bool normed = false;
    in.flag("use_qk_norm", normed);
    if (normed) layer.qk_norm = QkNorm::Heads;
    read_rotated_part(in, layer, 0.5);
    read_deepseek_experts(in, config);
}

void read_gpt_oss(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    LayerKeys& layer = config.layer;
    config.network.norm_eps = 1e-5;
    layer.ffn = 2880;
    layer.kv_heads = 8;
    layer.experts = 128;
    layer.experts_per_token = 4;
    layer.rope_theta = 150000;
    read_llama_kind(in, config);
    if (!in.has("head_dim")) layer.head_dim = 64;
    config.network.family = Family::Deepseek;
    layer.activation = Activation::ClampedSwiglu;
    double limit = kClampedSwigluLimit;
    in.real("swiglu_limit", limit, 0, 1e9);
    if (limit != kClampedSwigluLimit)
        in.complain("swiglu_limit", fmt::format("the activation's limit is {} here, not {}",
                                                kClampedSwigluLimit, limit));
    layer.linear_bias = true;  // of queries, keys, values, outputs and experts
    layer.router_bias = true;
    layer.sinks = true;
    in.whole("num_local_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    read_window(in, config, 128);
    read_layer_types(in, config, [](int i) { return i % 2 == 1; });
}

void read_gemma2(text::MappingReader& in, Config& config) {
    read_gemma(in, config);
    if (!in.has("attn_logit_softcapping")) config.layer.score_softcap = 50;
    if (!in.has("final_logit_softcapping")) config.network.logit_softcap = 30;
    read_softcap(in, "attn_logit_softcapping", config.layer.score_softcap);
    read_softcap(in, "final_logit_softcapping", config.network.logit_softcap);
    read_layer_types(in, config, [](int i) { return i % 2 == 1; });
}

void read_gemma3(text::MappingReader& in, Config& config) {
    config.layer.rope_theta = 1e6;
    read_gemma(in, config);
    LayerKeys& layer = config.layer;
    layer.qk_norm = QkNorm::Heads;
    read_softcap(in, "attn_logit_softcapping", layer.score_softcap);
    read_softcap(in, "final_logit_softcapping", config.network.logit_softcap);
    int pattern = 6;
    in.whole("sliding_window_pattern", pattern, 1, kMostLayers);
    read_layer_types(in, config, [&](int i) { return (i + 1) % pattern == 0; });
    layer.rope_scaling.reset();  // that of layers that see all tokens
    layer.rope_theta = 10000;
    in.real("rope_local_base_freq", layer.rope_theta, 1, 1e12);
    read_angles(in, "full_attention", config.full_layer);
    read_angles(in, "sliding_attention", layer);
}

void read_olmo2(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.network.norm_eps = 1e-5;
    config.layer.ffn = 11008;
    config.layer.kv_heads = 0;
    read_llama_kind(in, config);
    refuse_flag(in, "attention_bias");
    config.network.family = Family::Deepseek;
    config.layer.qk_norm = QkNorm::Width;
    config.layer.norm_position = NormPosition::After;
}

void read_phi3(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    config.network.norm_eps = 1e-5;
    config.layer.ffn = 8192;
    config.layer.kv_heads = 0;
    read_llama_kind(in, config);
    config.network.family = Family::Deepseek;
    read_rotated_part(in, config.layer, 1);
    if (in.has("sliding_window")) read_window(in, config, kMostPositions);
}

void read_nemotron(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    Architecture& a = config.network;
    a.norm_eps = 1e-5;
    config.layer.ffn = 24576;
    config.layer.kv_heads = 0;
    read_llama_kind(in, config, kNemotronActivations);
    if (!in.has("hidden_act")) config.layer.activation = Activation::SquaredRelu;
    for (const char* key : {"attention_bias", "mlp_bias"}) refuse_flag(in, key);
    in.real("norm_eps", a.norm_eps, 0, 1);
    a.family = Family::Deepseek;
    a.norm = Norm::LayerNorm;
    a.zero_centred_norms = true;
    read_rotated_part(in, config.layer, 0.5);
}

void read_gpt_neox(text::MappingReader& in, Config& config) {
    demand_sizes(in);
    Architecture& a = config.network;
    LayerKeys& layer = config.layer;
    layer.ffn = 24576;
    layer.kv_heads = 0;
    read_llama_kind(in, config, kNeoxActivations);
    if (!in.has("hidden_act")) layer.activation = Activation::Gelu;
    a.family = Family::Deepseek;
    a.norm = Norm::LayerNorm;
    a.norm_eps = 1e-5;
    in.real("layer_norm_eps", a.norm_eps, 0, 1);
    in.real("hidden_dropout", a.dropout, 0, 0.999);
    layer.linear_bias = true;
    in.flag("attention_bias", layer.linear_bias);
    if (!layer.linear_bias)
        in.complain("attention_bias",
                    "attention without biases beside an MLP with them is not read");
    layer.parallel_residual = true;
    in.flag("use_parallel_residual", layer.parallel_residual);
    in.real("rotary_emb_base", layer.rope_theta, 1, 1e12);
    double part = 0.25;
    in.real("rotary_pct", part, 0, 1);
    read_rotated_part(in, layer, part);
}

}  // namespace debubble::models
