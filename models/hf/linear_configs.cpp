#include <algorithm>

#include <fmt/format.h>

#include "models/hf/config.h"
#include "models/network/architecture_limits.h"

/// Configurations of networks with Kimi Delta Attention (Kimi Linear, Kimi K3) and of Granite 4's
/// hybrids of Mamba-2 and attention. They are planned alone.
namespace debubble::models {
namespace {

constexpr std::pair<std::string_view, Activation> kKimiActivations[] = {
    {"silu", Activation::Swiglu}, {"situ", Activation::Situ}};

/// Layers with latent attention; the others have delta nets. Both lists count from 1.
std::vector<bool> read_kimi_layers(text::MappingReader& in, Config& config, DeltaNet& net) {
    std::vector<bool> attends(config.layers);
    net.channel_decay = true;
    std::vector<std::string> kinds;
    if (!in.has("linear_attn_config") && in.has("layer_types")) {  // as transformers writes it
        if (!read_of_layers(in, config, "layer_types", kinds)) return attends;
        in.whole("linear_num_heads", net.value_heads, 1, kMostHeads);
        in.whole("linear_head_dim", net.value_dim, 1, kWidest);
        in.whole("linear_conv_kernel_dim", net.convolution, 1, kWidest);
        net.key_heads = net.value_heads;
        net.key_dim = net.gate_rank = net.value_dim;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            attends[i] = kinds[i] == "full_attention";
            if (!attends[i] && kinds[i] != "linear_attention")
                in.complain("layer_types", fmt::format("'{}' is not linear_attention or "
                                                       "full_attention",
                                                       kinds[i]));
        }
        return attends;
    }
    in.demand("linear_attn_config");
    const text::NodePtr map = in.value("linear_attn_config");
    if (!map) return attends;
    text::MappingReader linear(map, "linear_attn_config", in.mistakes());
    std::vector<int> with_attention;
    std::vector<int> with_nets;
    for (const char* key : {"full_attn_layers", "kda_layers"}) linear.demand(key);
    linear.wholes("full_attn_layers", with_attention, 1, config.layers);
    linear.wholes("kda_layers", with_nets, 1, config.layers);
    std::int64_t heads = 1;
    std::int64_t width = 128;
    linear.whole("num_heads", heads, 1, kMostHeads);
    linear.whole("head_dim", width, 1, kWidest);
    linear.whole("short_conv_kernel_size", net.convolution, 1, kWidest);
    linear.flag("use_full_rank_gate", net.full_output_gate);
    linear.value("gate_lower_bound");
    linear.finish();
    net.key_heads = net.value_heads = heads;
    net.key_dim = net.value_dim = net.gate_rank = width;
    std::vector<int> of_layer(config.layers);
    for (const int layer : with_attention) ++of_layer[layer - 1];
    for (const int layer : with_nets) of_layer[layer - 1] += 2;
    if (std::ranges::any_of(of_layer, [](int count) { return count != 1 && count != 2; }))
        linear.complain("kda_layers",
                        "each layer must appear once in 'kda_layers' or 'full_attn_layers'");
    for (std::size_t i = 0; i < attends.size(); ++i) attends[i] = of_layer[i] == 1;
    return attends;
}

void read_kimi_experts(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    config.dense_ffn = layer.ffn;
    for (const std::string_view key : {"num_experts", "moe_intermediate_size"}) in.demand(key);
    in.whole("num_experts", layer.experts, 1, kMostExperts);
    for (const std::string_view key : {"num_experts_per_tok", "num_experts_per_token"})
        in.whole(key, layer.experts_per_token, 1, kMostExperts);
    in.whole("moe_intermediate_size", layer.ffn, 1, kWidestMlp);
    expect_word(in, "moe_router_activation_func", {"sigmoid"});
    layer.router = Router::Sigmoid;
    layer.router_dtype = RouterDtype::Fp32;
    layer.router_bias_correction = true;
    in.flag("moe_renormalize", layer.router_renormalises);
    in.flag("norm_topk_prob", layer.router_renormalises);
    in.real("routed_scaling_factor", layer.router_scaling, 0, 1e6);
    in.value("use_grouped_topk");
    expect_word(in, "topk_method", {"noaux_tc"});
    expect_word(in, "scoring_func", {"sigmoid"});
    for (const std::string_view key : {"num_expert_group", "n_group"})
        in.whole(key, layer.router_groups, 1, kMostExperts);
    in.whole("topk_group", layer.router_groups_chosen, 1, kMostExperts);
    std::int64_t shared = 0;
    for (const std::string_view key : {"num_shared_experts", "n_shared_experts"})
        in.whole(key, shared, 0, kMostExperts);
    layer.shared_ffn = shared * layer.ffn;
    for (const std::string_view key : {"routed_expert_hidden_size", "moe_latent_size"})
        in.whole(key, layer.expert_latent, 1, kWidest);
    if (layer.expert_latent > 0) in.flag("latent_moe_use_norm", layer.expert_latent_norm);
    in.whole("first_k_dense_replace", config.dense_first, 0, kMostLayers);
    read_dense_between(in, config);
}

}  // namespace

void read_kimi_linear(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    for (const std::string_view key :
         {"num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"})
        in.demand(key);
    a.norm_eps = 1e-5;
    a.max_positions = 1048576;
    layer.ffn = 9216;
    layer.kv_heads = 0;
    config.usual_head_dim = 128;
    config.activations = kKimiActivations;
    read_llama_kind(in, config);
    in.whole("model_max_length", a.max_positions, 1, kMostPositions);
    a.family = Family::Planned;
    for (const char* key : {"activation_situ_beta", "activation_situ_linear_beta"}) in.value(key);
    read_latent(in, layer);
    bool unrotated = false;
    in.flag("mla_use_nope", unrotated);
    layer.rotary = !unrotated;
    in.flag("mla_use_output_gate", layer.output_gate);
    read_kimi_experts(in, config);
    std::int64_t block = 0;
    if (in.whole("attn_res_block_size", block, 0, kMostLayers) && block > 0)
        a.residual_block = block;
    DeltaNet net;
    const std::vector<bool> attends = read_kimi_layers(in, config, net);
    if (!in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (attends[i]) continue;
        layers[i].mixer = MixerKind::DeltaNet;
        layers[i].delta_net = net;
    }
}

/// Delta nets of one product into decays in five of six layers, and latent attention with a gate of
/// each head in the others (Ling 3).
void read_bailing_hybrid(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    for (const std::string_view key :
         {"num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size", "kv_lora_rank"})
        in.demand(key);
    for (const char* key : {"kda_safe_gate", "kda_lower_bound"}) in.value(key);
    const auto wholes_of = [&](std::initializer_list<const char*> keys, std::int64_t& value,
                               std::int64_t least, std::int64_t most) {
        for (const char* key : keys) in.whole(key, value, least, most);
    };
    a.norm_eps = 1e-6;
    a.max_positions = 262'144;
    layer.ffn = 6144;
    layer.kv_heads = 0;
    config.usual_head_dim = 128;
    read_llama_kind(in, config);
    in.whole("model_max_length", a.max_positions, 1, kMostPositions);
    a.family = Family::Planned;
    DeltaNet net;
    net.key_heads = net.value_heads = layer.heads;
    net.channel_decay = net.full_output_gate = net.full_decay_gate = true;
    // transformers writes the width of the delta nets' heads beside that of latent attention's.
    net.value_dim = layer.head_dim;
    in.whole("linear_head_dim", net.value_dim, 1, kWidest);
    in.whole("linear_num_heads", net.value_heads, 1, kMostHeads);
    net.key_heads = net.value_heads;
    net.key_dim = net.value_dim;
    wholes_of({"short_conv_kernel_size", "linear_conv_kernel_dim"}, net.convolution, 1, kWidest);
    read_latent(in, layer);
    layer.head_gate = true;
    read_kimi_experts(in, config);
    int group = 6;
    in.whole("layer_group_size", group, 1, kMostLayers);
    std::vector<std::string> kinds;
    if (in.has("layer_types") && !read_of_layers(in, config, "layer_types", kinds)) return;
    if (!in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool attends =
            kinds.empty() ? (static_cast<int>(i) + 1) % group == 0 : kinds[i] == "full_attention";
        if (attends) continue;
        layers[i].mixer = MixerKind::DeltaNet;
        layers[i].delta_net = net;
    }
}

/// Lightning attention, and softmax attention where a list says so; factors of the branches change
/// no figure of a plan.
void read_minimax(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    demand_sizes(in);
    for (const char* key :
         {"full_attn_alpha_factor", "full_attn_beta_factor", "linear_attn_alpha_factor",
          "linear_attn_beta_factor", "mlp_alpha_factor", "mlp_beta_factor",
          "layernorm_full_attention_alpha", "layernorm_full_attention_beta",
          "layernorm_linear_attention_alpha", "layernorm_linear_attention_beta",
          "layernorm_mlp_alpha", "layernorm_mlp_beta", "postnorm", "shared_moe_mode"})
        in.value(key);
    layer.kv_heads = 8;
    layer.ffn = 14336;
    a.norm_eps = 1e-5;
    read_llama_kind(in, config);
    a.family = Family::Planned;
    std::int64_t rotated = layer.head_dim;
    if (in.whole("rotary_dim", rotated, 1, kWidest) && rotated != layer.head_dim)
        layer.rotary_dim = rotated;
    layer.experts = 8;
    layer.experts_per_token = 2;
    in.whole("num_local_experts", layer.experts, 1, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 1, kMostExperts);
    in.whole("shared_intermediate_size", layer.shared_ffn, 0, kWidestMlp);
    DeltaNet net;
    net.fixed_decay = true;
    net.key_heads = net.value_heads = layer.heads;
    net.key_dim = net.value_dim = layer.head_dim;
    net.chunk = 256;
    in.whole("block_size", net.chunk, 1, kMostPositions);
    std::vector<std::string> kinds;
    const char* list = in.has("attn_type_list") ? "attn_type_list" : "layer_types";
    if (in.has(list) && !read_of_layers(in, config, list, kinds)) return;
    if (!in.good()) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const bool attends =
            kinds.empty() ? i % 2 == 0 : kinds[i] == "full_attention" || kinds[i] == "1";
        if (!attends && !kinds.empty() && kinds[i] != "linear_attention" && kinds[i] != "0")
            return in.complain(list, fmt::format("unknown kind of attention '{}'", kinds[i]));
        if (attends) continue;
        layers[i].mixer = MixerKind::DeltaNet;
        layers[i].delta_net = net;
    }
}

/// Factors of embeddings, scores, branches and logits change no figure of a plan.
void read_granite_hybrid(text::MappingReader& in, Config& config) {
    LayerKeys& layer = config.layer;
    Architecture& a = config.network;
    demand_sizes(in);
    for (const char* key :
         {"embedding_multiplier", "attention_multiplier", "residual_multiplier", "logits_scaling"})
        in.value(key);
    layer.kv_heads = 0;
    layer.ffn = 8192;
    a.norm_eps = 1e-6;
    read_llama_kind(in, config);
    read_biases(in, layer);
    a.family = Family::Planned;
    expect_word(in, "position_embedding_type", {"nope", "rope"});
    const text::NodePtr positions = in.value("position_embedding_type");
    layer.rotary = positions && positions->scalar == "rope";
    std::int64_t shared = 1024;
    in.whole("shared_intermediate_size", shared, 1, kWidestMlp);
    in.whole("num_local_experts", layer.experts, 0, kMostExperts);
    in.whole("num_experts_per_tok", layer.experts_per_token, 0, kMostExperts);
    if (layer.experts > 0)
        layer.shared_ffn = shared;
    else
        layer.ffn = shared;
    Mamba mamba;
    mamba.heads = 128;
    in.whole("mamba_n_heads", mamba.heads, 1, kMostHeads);
    double expand = 2;
    in.real("mamba_expand", expand, 0, 1e4);
    mamba.head_dim = static_cast<std::int64_t>(expand * static_cast<double>(a.hidden)) /
                     std::max<std::int64_t>(1, mamba.heads);
    const text::NodePtr width = in.value("mamba_d_head");
    if (width && width->scalar != "auto") in.whole("mamba_d_head", mamba.head_dim, 1, kWidest);
    in.whole("mamba_n_groups", mamba.groups, 1, kMostHeads);
    in.whole("mamba_d_state", mamba.state, 1, kWidest);
    in.whole("mamba_d_conv", mamba.convolution, 1, kWidest);
    in.whole("mamba_chunk_size", mamba.chunk, 1, kMostPositions);
    in.flag("mamba_conv_bias", mamba.convolution_bias);
    refuse_flag(in, "mamba_proj_bias");
    layer.mamba = mamba;
    in.demand("layer_types");
    std::vector<std::string> kinds;
    if (!read_of_layers(in, config, "layer_types", kinds)) return;
    std::vector<LayerKeys>& layers = layers_of(config);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (kinds[i] == "mamba" || kinds[i] == "linear_attention")
            layers[i].mixer = MixerKind::Mamba;
        else if (kinds[i] != "attention" && kinds[i] != "full_attention")
            return in.complain("layer_types",
                               fmt::format("'{}' is not mamba or attention", kinds[i]));
    }
}

}  // namespace debubble::models
