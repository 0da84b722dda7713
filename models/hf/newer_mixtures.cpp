#include <algorithm>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of mixtures of experts of 2026, whose layers are known under other names.
/// Defaults are those of transformers 5.24's classes, as far as published files leave keys out.
/// They are of the family 'planned'.
namespace debubble::models {
namespace {

/// The keys shared with Llama, and the head dimension.
void read_kin_of_mixtures(text::MappingReader& in, Config& config, std::int64_t ffn,
                          std::int64_t kv_heads, double norm_eps,
                          std::optional<std::int64_t> head_dim = 128) {
    demand_sizes(in);
    config.layer.ffn = ffn;
    config.layer.kv_heads = kv_heads;
    config.network.norm_eps = norm_eps;
    config.usual_head_dim = head_dim;
    read_llama_kind(in, config);
    config.network.family = Family::Planned;
    refuse_flag(in, "mlp_bias");  // which experts would not have
    bool biased = false;
    if (in.flag("attention_bias", biased) && biased)
        config.layer.qkv_bias = config.layer.output_bias = true;
}

/// The number of shared experts by the name that these files have.
void read_shared_experts(text::MappingReader& in, Config& config, std::int64_t usual) {
    std::int64_t shared = usual;
    for (const std::string_view key : {"num_shared_experts", "n_shared_experts"})
        in.whole(key, shared, 0, kMostExperts);
    config.layer.shared_ffn = shared * config.layer.ffn;
}

/// Which layers have dense MLPs, where a list says it, or a number of the first ones.
void read_dense_layers(text::MappingReader& in, Config& config, std::string_view first, int usual) {
    config.dense_first = usual;
    in.whole(first, config.dense_first, 0, kMostLayers);
    read_listed_dense(in, config);
}

/// A sigmoid router whose choice has a bias, without groups.
void choose_by_sigmoid(LayerKeys& layer) {
    layer.router_renormalises = layer.router == Router::Softmax;
    layer.router = Router::Sigmoid;
    layer.router_bias_correction = true;
    layer.router_dtype = RouterDtype::Fp32;
}

/// Windows in all layers but each `every`-th, unless a list says which; layers without one have no
/// positions where `still`.
void read_windows(text::MappingReader& in, Config& config, std::int64_t window, int every,
                  bool still) {
    in.whole("sliding_window", window, 1, kMostPositions);
    std::vector<bool> usual;
    for (int i = 0; i < config.layers; ++i) usual.push_back(every > 0 && (i + 1) % every != 0);
    set_windows(in, config, window, usual);
    if (!still || !in.good()) return;
    for (LayerKeys& layer : layers_of(config)) layer.rotary = layer.window.has_value();
}

}  // namespace

/// DeepSeek-V3's layers with a softmax router.
void read_mistral4(text::MappingReader& in, Config& config) {
    in.value("rope_interleave");
    config.usually_renormalised = true;
    read_deepseek_v2(in, config);
    config.layer.rotary_dim.reset();  // the share of a head is that of latent attention
    config.network.family = Family::Planned;
}

/// All layers have experts.
void read_solar_open(text::MappingReader& in, Config& config) {
    read_kin_of_mixtures(in, config, 1280, 8, 1e-5);
    config.usually_renormalised = true;
    read_experts(in, config, "n_routed_experts");
    read_sigmoid_router(in, config);
    in.value("intermediate_size");
    read_shared_experts(in, config, 1);
    bool normed = false;
    if (in.flag("use_qk_norm", normed) && normed) config.layer.qk_norm = QkNorm::Heads;
    int dense = 0;
    if (in.whole("first_k_dense_replace", dense, 0, kMostLayers)) config.dense_first = dense;
}

/// K-EXAONE: EXAONE 4's attention with norms before the parts.
void read_exaone_moe(text::MappingReader& in, Config& config) {
    read_kin_of_mixtures(in, config, 16384, 32, 1e-5, {});
    config.layer.qk_norm = QkNorm::Heads;
    config.usually_renormalised = true;
    read_experts(in, config, "num_experts");
    read_sigmoid_router(in, config);
    read_shared_experts(in, config, 1);
    read_dense_layers(in, config, "first_k_dense_replace", 1);
    int every = 4;
    const text::NodePtr pattern = in.value("sliding_window_pattern");
    if (pattern && pattern->scalar.find_first_not_of("LG") == std::string::npos)
        every = static_cast<int>(pattern->scalar.size());
    else if (pattern)
        in.whole("sliding_window_pattern", every, 1, kMostLayers);
    if (!in.good()) return;
    read_windows(in, config, 4096, every, true);
}

void read_hy_v3(text::MappingReader& in, Config& config) {
    read_kin_of_mixtures(in, config, 13312, 8, 1e-5);
    config.layer.qk_norm = QkNorm::Heads;
    config.usually_renormalised = true;
    read_experts(in, config, "num_experts");
    choose_by_sigmoid(config.layer);
    in.real("router_scaling_factor", config.layer.router_scaling, 0, 1e6);
    in.value("enable_moe_fp32_combine");
    read_shared_experts(in, config, 1);
    read_dense_layers(in, config, "first_k_dense_replace", 1);
}

/// OLMo 2's layers with experts.
void read_flex_olmo(text::MappingReader& in, Config& config) {
    read_olmo2(in, config);
    config.network.family = Family::Planned;
    LayerKeys& layer = config.layer;
    layer.experts = 7;
    layer.experts_per_token = 5;
    in.whole("num_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    read_softmax_router(in, layer, false);
}

/// Gates on heads or columns of attention, heads by layer, and angles by kind of layer.
void read_laguna(text::MappingReader& in, Config& config) {
    read_kin_of_mixtures(in, config, 8192, 8, 1e-6);
    LayerKeys& layer = config.layer;
    layer.qk_norm = QkNorm::Heads;
    const text::NodePtr gating = in.value("gating");
    layer.head_gate = !gating || gating->scalar == "true" || gating->scalar == "per-head";
    layer.output_gate = !layer.head_gate;
    config.usually_renormalised = true;
    read_experts(in, config, "num_experts");
    choose_by_sigmoid(layer);
    in.real("moe_routed_scaling_factor", layer.router_scaling, 0, 1e6);
    refuse_flag(in, "moe_apply_router_weight_on_input");
    double cap = 0;
    if (in.real("moe_router_logit_softcapping", cap, 0, kMostCap) && cap != 0)
        in.complain("moe_router_logit_softcapping", "capped router logits are not supported");
    layer.shared_ffn = 512;
    in.whole("shared_expert_intermediate_size", layer.shared_ffn, 0, kWidestMlp);
    read_dense_layers(in, config, "first_k_dense_replace", 1);
    std::vector<std::string> heads;
    const bool by_layer = in.has("num_attention_heads_per_layer") &&
                          read_of_layers(in, config, "num_attention_heads_per_layer", heads);
    if (!in.good()) return;
    read_windows(in, config, 512, 0, false);
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; by_layer && i < layers.size(); ++i) {
        const text::NodePtr map = text::make_map(
            {{"heads", in.mapping()->place, text::make_scalar(heads[i], in.mapping()->place)}}, {});
        text::MappingReader one(map, "num_attention_heads_per_layer", in.mistakes());
        one.whole("heads", layers[i].heads, 1, kMostHeads);
    }
    if (in.good()) turn_by_layer(in, config, layer);
}

/// Qwen3's mixtures with windows.
void read_mellum(text::MappingReader& in, Config& config) {
    read_qwen3_moe(in, config);
    config.network.family = Family::Planned;
    config.each.clear();
    read_dense_layers(in, config, "first_k_dense_replace", 0);
    if (!in.good()) return;
    read_windows(in, config, 1024, 0, false);
    turn_by_layer(in, config, LayerKeys{.rope_theta = config.layer.rope_theta});
}

/// Gates on attention's columns, four norms, and positions in layers with windows alone.
void read_afmoe(text::MappingReader& in, Config& config) {
    read_kin_of_mixtures(in, config, 6144, 0, 1e-5);
    LayerKeys& layer = config.layer;
    layer.qk_norm = QkNorm::Heads;
    layer.norm_position = NormPosition::Both;
    layer.output_gate = true;
    config.usually_renormalised = true;
    in.flag("route_norm", config.usually_renormalised);
    read_experts(in, config, "num_experts");
    choose_by_sigmoid(layer);
    expect_word(in, "score_func", {"sigmoid"});
    in.real("route_scale", layer.router_scaling, 0, 1e6);
    for (const std::string_view key : {"n_group", "num_expert_groups"})
        in.whole(key, layer.router_groups, 1, kMostExperts);
    for (const std::string_view key : {"topk_group", "num_limited_groups"})
        in.whole(key, layer.router_groups_chosen, 1, kMostExperts);
    read_shared_experts(in, config, 2);
    read_dense_layers(in, config, "num_dense_layers", 1);
    in.flag("mup_enabled", config.network.scaled_embedding);
    int every = 4;
    in.whole("global_attn_every_n_layers", every, 1, kMostLayers);
    if (in.good()) read_windows(in, config, 1024, every, true);
}

/// Granite's experts, with shared ones where a key gives their width.
void read_granite_moe(text::MappingReader& in, Config& config) {
    read_granite(in, config);
    LayerKeys& layer = config.layer;
    layer.experts = 8;
    layer.experts_per_token = 2;
    in.whole("num_local_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    in.whole("shared_intermediate_size", layer.shared_ffn, 0, kWidestMlp);
}

/// Sarvam: GLM-4.5's layers, and DeepSeek-V3's.
void read_sarvam_moe(text::MappingReader& in, Config& config) {
    read_glm4_moe(in, config);
    config.network.family = Family::Planned;
}
void read_sarvam_mla(text::MappingReader& in, Config& config) {
    read_deepseek_v3(in, config);
    config.network.family = Family::Planned;
}

/// Norms before and after parts, and windows.
void read_kolibri1(text::MappingReader& in, Config& config) {
    read_kin_of_mixtures(in, config, 512, 4, 1e-6);
    LayerKeys& layer = config.layer;
    layer.qk_norm = QkNorm::Heads;
    layer.norm_position = NormPosition::Both;
    read_experts(in, config, "num_local_experts");
    layer.shared_ffn = 512;
    in.whole("shared_expert_intermediate_size", layer.shared_ffn, 0, kWidestMlp);
    if (in.good()) read_windows(in, config, 513, 5, false);
}

/// Qwen3's mixtures with sinks, windows and shared experts.
void read_flint(text::MappingReader& in, Config& config) {
    read_qwen3_moe(in, config);
    config.network.family = Family::Planned;
    config.each.clear();
    config.layer.sinks = true;
    config.layer.shared_ffn = 1024;
    in.whole("shared_expert_intermediate_size", config.layer.shared_ffn, 0, kWidestMlp);
    if (in.good()) read_windows(in, config, 513, 0, false);
}

/// The same as Granite's dense ones with windows, with its experts.
void read_granite_moe_swa(text::MappingReader& in, Config& config) {
    read_granite_moe(in, config);
    config.layer.sinks = true;
    in.value("layer_rope_theta");
    if (in.good()) read_windows(in, config, 128, 0, false);
}

}  // namespace debubble::models
