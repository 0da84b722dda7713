#include <algorithm>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of dense networks in addition to those of dense_configs.cpp, whose layers are
/// known under other names. Defaults are those of transformers 5.24's classes, as far as published
/// files leave keys out. They are of the family 'planned'.
namespace debubble::models {
namespace {

constexpr std::pair<std::string_view, Activation> kUngatedActivations[] = {
    {"gelu", Activation::Gelu},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"relu", Activation::Relu},
    {"relu2", Activation::SquaredRelu}};
constexpr std::pair<std::string_view, Activation> kXielu[] = {{"xielu", Activation::Xielu}};

/// The keys that these networks share with Llama.
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

/// EXAONE 3 and IQuest-Coder.
void read_exaone(text::MappingReader& in, Config& config) {
    in.demand("intermediate_size");
    read_kin_of_llama(in, config, 14336, 0, 1e-5);
    read_biases(in, config.layer);
}

/// Its last product of attention is as wide as the hidden state, and has no bias.
void read_helium(text::MappingReader& in, Config& config) {
    config.usual_head_dim = 128;
    read_exaone(in, config);
    config.layer.output_bias = false;
    if (in.good() && config.layer.heads * config.layer.head_dim != config.network.hidden)
        in.complain("num_attention_heads",
                    fmt::format("{} heads of {} columns do not make up the hidden size {}",
                                config.layer.heads, config.layer.head_dim, config.network.hidden));
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
    config.activations = kUngatedActivations;
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
    config.activations = kUngatedActivations;
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
    const std::int64_t ffn = config.layer.ffn > 1 ? config.layer.ffn : 6144;
    read_kin_of_llama(in, config, ffn, 0, 1e-6);
    if (!in.has("tie_word_embeddings")) config.network.tied_embedding = true;
    refuse_flag(in, "attention_bias");
    refuse_flag(in, "mlp_bias");
    in.value("rope_interleave");
    read_latent(in, config.layer);
}

/// The same with factors, on which no figure of a plan depends.
void read_minicpm3(text::MappingReader& in, Config& config) {
    for (const char* key : {"scale_emb", "scale_depth", "dim_model_base"}) in.value(key);
    if (!in.has("intermediate_size")) config.layer.ffn = 6400;
    read_youtu(in, config);
}

/// Gemma 2's layers with norms before their parts alone.
void read_vaultgemma(text::MappingReader& in, Config& config) {
    read_gemma2(in, config);
    config.network.family = Family::Planned;
    for (LayerKeys& layer : layers_of(config)) layer.norm_position = NormPosition::Before;
}

/// Granite's layers with sinks, three of four of them with windows.
void read_granite_swa(text::MappingReader& in, Config& config) {
    read_granite(in, config);
    config.layer.sinks = true;
    in.value("layer_rope_theta");
    std::int64_t window = 128;
    in.whole("sliding_window", window, 1, kMostPositions);
    std::vector<bool> usual;
    for (int i = 0; i < config.layers; ++i) usual.push_back(i % 4 != 0);
    set_windows(in, config, window, usual);
}

/// OLMo 2's layers, and gated delta nets with norms before their parts.
void read_olmo_hybrid(text::MappingReader& in, Config& config) {
    read_olmo2(in, config);
    config.network.family = Family::Planned;
    DeltaNet net;
    net.key_heads = net.value_heads = config.layer.heads;
    net.key_dim = 96;
    net.value_dim = 192;
    in.whole("linear_num_key_heads", net.key_heads, 1, kMostHeads);
    in.whole("linear_num_value_heads", net.value_heads, 1, kMostHeads);
    in.whole("linear_key_head_dim", net.key_dim, 1, kWidest);
    in.whole("linear_value_head_dim", net.value_dim, 1, kWidest);
    in.whole("linear_conv_kernel_dim", net.convolution, 1, kWidest);
    for (const char* key : {"linear_a_log_min", "linear_a_log_max", "linear_dt_min",
                            "linear_dt_max", "linear_dt_init_floor", "linear_allow_neg_eigval"})
        in.value(key);  // of first values
    std::vector<std::string> kinds;
    in.demand("layer_types");
    if (!read_of_layers(in, config, "layer_types", kinds) || !in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (kinds[i] == "full_attention") continue;
        if (kinds[i] != "linear_attention")
            return in.complain(
                "layer_types",
                fmt::format("'{}' is not linear_attention or full_attention", kinds[i]));
        layers[i].mixer = MixerKind::DeltaNet;
        layers[i].delta_net = net;
        layers[i].norm_position = NormPosition::Before;
    }
}

}  // namespace debubble::models
