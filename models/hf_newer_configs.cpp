#include <algorithm>

#include <fmt/format.h>

#include "models/architecture_limits.h"
#include "models/hf_config.h"

/// Configurations of dense networks beside those of hf_dense_configs.cpp, whose layers are known
/// under other names. Defaults are those of transformers 5.24's classes, as far as published files
/// leave keys out. They are of the family 'planned'.
namespace debubble::models {
namespace {

constexpr std::pair<std::string_view, Activation> kUngated[] = {
    {"gelu", Activation::Gelu},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"relu", Activation::Relu},
    {"relu2", Activation::SquaredRelu}};
constexpr std::pair<std::string_view, Activation> kXielu[] = {{"xielu", Activation::Xielu}};

/// What these networks share with Llama.
void read_kin_of_llama(text::MappingReader& in, Config& config, std::int64_t ffn,
                       std::int64_t kv_heads, double norm_eps) {
    demand_sizes(in);
    config.layer.ffn = ffn;
    config.layer.kv_heads = kv_heads;
    config.network.norm_eps = norm_eps;
    read_llama_kind(in, config);
    config.network.family = Family::Planned;
}

/// Layer norms with biases.
void read_layer_norms(text::MappingReader& in, Config& config, std::string_view eps) {
    config.network.norm = Norm::LayerNorm;
    config.network.norm_eps = 1e-5;
    in.real(eps, config.network.norm_eps, 0, 1);
}

}  // namespace

/// Windows in three of four layers, from the second on.
void read_cwm(text::MappingReader& in, Config& config) {
    config.usual_head_dim = 128;
    read_kin_of_llama(in, config, 21504, 8, 1e-5);
    read_biases(in, config.layer);
    std::int64_t window = 8192;
    in.whole("sliding_window", window, 1, kMostPositions);
    std::vector<bool> usual;
    for (int i = 0; i < config.layers; ++i) usual.push_back(i % 4 != 0);
    set_windows(in, config, window, usual);
}

/// EXAONE 3, Helium and IQuest-Coder.
void read_exaone(text::MappingReader& in, Config& config) {
    read_kin_of_llama(in, config, 14336, 0, 1e-5);
    read_biases(in, config.layer);
}

void read_hyperclovax(text::MappingReader& in, Config& config) {
    for (const char* key :
         {"embedding_multiplier", "attention_multiplier", "residual_multiplier", "logits_scaling"})
        in.value(key);  // factors, on which no figure of a plan depends
    read_kin_of_llama(in, config, 11008, 0, 1e-6);
    read_biases(in, config.layer);
    bool normed_after = true;
    in.flag("use_post_norm", normed_after);
    if (normed_after) config.layer.norm_position = NormPosition::Both;
}

void read_jais2(text::MappingReader& in, Config& config) {
    config.usual_activation = Activation::SquaredRelu;
    config.activations = kUngated;
    config.layer.linear_bias = true;
    read_kin_of_llama(in, config, 26624, 0, 1e-5);
    read_layer_norms(in, config, "layer_norm_eps");
    bool attention = true;
    bool mlp = true;
    in.flag("attention_bias", attention);
    in.flag("mlp_bias", mlp);
    config.layer.linear_bias = mlp;
    config.layer.qkv_bias = config.layer.output_bias = attention;
}

void read_starcoder2(text::MappingReader& in, Config& config) {
    config.usual_activation = Activation::GeluTanh;
    config.activations = kUngated;
    read_kin_of_llama(in, config, 12288, 2, 1e-5);
    read_layer_norms(in, config, "norm_epsilon");
    if (!in.has("tie_word_embeddings")) config.network.tied_embedding = true;
    config.layer.linear_bias = true;
    in.flag("use_bias", config.layer.linear_bias);
    std::int64_t window = 0;
    if (in.whole("sliding_window", window, 1, kMostPositions) &&
        window < config.network.max_positions)
        config.layer.window = window;
}

void read_stablelm(text::MappingReader& in, Config& config) {
    read_kin_of_llama(in, config, 6912, 0, 1e-5);
    read_layer_norms(in, config, "layer_norm_eps");
    read_rotary_share(in, config, "partial_rotary_factor", 0.25);
    bool biased = false;
    in.flag("use_qkv_bias", biased);
    config.layer.qkv_bias = biased;
    refuse_flag(in, "qk_layernorm");
    refuse_flag(in, "use_parallel_residual");
    in.real("hidden_dropout", config.network.dropout, 0, 0.999);
}

/// An MLP without a gate, whose activation has two learned scalars.
void read_apertus(text::MappingReader& in, Config& config) {
    config.usual_activation = Activation::Xielu;
    config.activations = kXielu;
    read_kin_of_llama(in, config, 14336, 0, 1e-5);
    config.layer.qk_norm = QkNorm::Heads;
    bool normed = true;
    if (in.flag("qk_norm", normed) && !normed) config.layer.qk_norm = QkNorm::None;
    refuse_flag(in, "post_norm");
    read_biases(in, config.layer);
}

/// Latent attention with dense MLPs.
void read_youtu(text::MappingReader& in, Config& config) {
    config.usual_head_dim = 1;  // latent attention says its own
    read_kin_of_llama(in, config, 6144, 0, 1e-6);
    if (!in.has("tie_word_embeddings")) config.network.tied_embedding = true;
    refuse_flag(in, "attention_bias");
    refuse_flag(in, "mlp_bias");
    in.value("rope_interleave");
    read_latent(in, config.layer);
}

}  // namespace debubble::models
