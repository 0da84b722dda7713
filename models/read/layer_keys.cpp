#include "models/read/layer_keys.h"

#include "base/overloaded.h"

namespace debubble::models {

namespace {

/// The value of a key of which 0 says that the layer does without.
std::optional<std::int64_t> unless_zero(std::int64_t value) {
    return value == 0 ? std::nullopt : std::optional(value);
}

Attention attention_of(const LayerKeys& keys) {
    Attention attention{keys.heads, keys.kv_heads, keys.head_dim};
    attention.qkv_bias = keys.qkv_bias.value_or(keys.linear_bias);
    attention.output_bias = keys.output_bias.value_or(keys.linear_bias);
    attention.value_dim = keys.value_dim.value_or(keys.head_dim);
    attention.rotary_dim = keys.rotary_dim;
    attention.rope_scaling = keys.rope_scaling;
    attention.qk_norm = keys.qk_norm;
    attention.window = keys.window;
    attention.chunk = keys.chunk;
    attention.latent = keys.latent;
    attention.rotary = keys.rotary;
    attention.rope_theta = keys.rope_theta;
    attention.sinks = keys.sinks;
    attention.score_softcap = keys.score_softcap;
    attention.query_pre_attn_scalar = keys.query_pre_attn_scalar;
    attention.temperature = keys.temperature;
    attention.output_gate = keys.output_gate;
    attention.head_gate = keys.head_gate;
    attention.keys_are_values = keys.keys_are_values;
    attention.value_norm = keys.value_norm;
    attention.sparse = keys.sparse;
    attention.compressed = keys.compressed;
    attention.alibi = keys.alibi;
    return attention;
}

Experts experts_of(const LayerKeys& keys) {
    Experts experts{keys.experts,    keys.experts_per_token,       keys.ffn,
                    keys.activation, unless_zero(keys.shared_ffn), keys.router};
    experts.groups = keys.router_groups;
    experts.groups_chosen = keys.router_groups_chosen;
    experts.renormalised = keys.router_renormalises;
    experts.scaling = keys.router_scaling;
    experts.router_dtype = keys.router_dtype;
    experts.router_bias = keys.router_bias;
    experts.bias_correction = keys.router_bias_correction;
    experts.bias = keys.linear_bias;
    experts.shared_gate = keys.shared_gate;
    experts.latent = unless_zero(keys.expert_latent);
    experts.latent_norm = keys.expert_latent_norm;
    experts.hashed = keys.hashed_router;
    experts.beside_ffn = unless_zero(keys.beside_ffn);
    experts.weighs_input = keys.weighs_experts_input;
    return experts;
}

void set_experts(LayerKeys& keys, const Experts& experts) {
    keys.experts = experts.count;
    keys.experts_per_token = experts.per_token;
    keys.ffn = experts.ffn;
    keys.activation = experts.activation;
    keys.shared_ffn = experts.shared_ffn.value_or(0);
    keys.router = experts.router;
    keys.router_groups = experts.groups;
    keys.router_groups_chosen = experts.groups_chosen;
    keys.router_renormalises = experts.renormalised;
    keys.router_scaling = experts.scaling;
    keys.router_dtype = experts.router_dtype;
    keys.router_bias = experts.router_bias;
    keys.router_bias_correction = experts.bias_correction;
    keys.linear_bias = experts.bias;
    keys.weighs_experts_input = experts.weighs_input;
    keys.shared_gate = experts.shared_gate;
    keys.expert_latent = experts.latent.value_or(0);
    keys.expert_latent_norm = experts.latent_norm;
    keys.hashed_router = experts.hashed;
    keys.beside_ffn = experts.beside_ffn.value_or(0);
}

void set_attention(LayerKeys& keys, const Attention& attention) {
    keys.heads = attention.heads;
    keys.kv_heads = attention.kv_heads;
    keys.head_dim = attention.head_dim;
    if (attention.qkv_bias != keys.linear_bias) keys.qkv_bias = attention.qkv_bias;
    if (attention.output_bias != keys.linear_bias) keys.output_bias = attention.output_bias;
    // Latent attention names the width of its values, whether or not it is that of its keys.
    if (attention.latent || attention.value_dim != attention.head_dim)
        keys.value_dim = attention.value_dim;
    keys.rotary_dim = attention.rotary_dim;
    keys.rope_scaling = attention.rope_scaling;
    keys.qk_norm = attention.qk_norm;
    keys.window = attention.window;
    keys.chunk = attention.chunk;
    keys.latent = attention.latent;
    keys.rotary = attention.rotary;
    keys.rope_theta = attention.rope_theta;
    keys.sinks = attention.sinks;
    keys.score_softcap = attention.score_softcap;
    keys.query_pre_attn_scalar = attention.query_pre_attn_scalar;
    keys.temperature = attention.temperature;
    keys.output_gate = attention.output_gate;
    keys.head_gate = attention.head_gate;
    keys.keys_are_values = attention.keys_are_values;
    keys.value_norm = attention.value_norm;
    keys.sparse = attention.sparse;
    keys.compressed = attention.compressed;
    keys.alibi = attention.alibi;
}

}  // namespace

Layer layer_of(const LayerKeys& keys) {
    Layer layer;
    switch (keys.mixer) {
        case MixerKind::Attention: layer.mixer = attention_of(keys); break;
        case MixerKind::Mamba: layer.mixer = keys.mamba.value_or(Mamba{}); break;
        case MixerKind::DeltaNet: layer.mixer = keys.delta_net.value_or(DeltaNet{}); break;
        case MixerKind::None: layer.mixer = NoMixer{}; break;
    }
    if (!keys.mlp)
        layer.mlp = NoMlp{};
    else if (keys.experts > 0)
        layer.mlp = experts_of(keys);
    else
        layer.mlp = DenseMlp{keys.ffn, keys.activation, keys.linear_bias};
    layer.norms = keys.norm_position;
    layer.parallel = keys.parallel_residual;
    layer.one_norm = keys.one_norm;
    if (keys.mamba_beside) layer.beside = keys.mamba.value_or(Mamba{});
    return layer;
}

LayerKeys keys_of(const Layer& layer) {
    LayerKeys keys;
    // The MLP's biases come first: attention's are told where they differ.
    if (const auto* attention = layer.as<Attention>()) keys.linear_bias = attention->output_bias;
    std::visit(Overloaded{[&](const DenseMlp& mlp) {
                              keys.ffn = mlp.ffn;
                              keys.activation = mlp.activation;
                              keys.linear_bias = mlp.bias;
                          },
                          [&](const Experts& experts) { set_experts(keys, experts); },
                          [&](const NoMlp&) { keys.mlp = false; }},
               layer.mlp);
    std::visit(Overloaded{[&](const Attention& attention) { set_attention(keys, attention); },
                          [&](const Mamba& mamba) {
                              keys.mixer = MixerKind::Mamba;
                              keys.mamba = mamba;
                          },
                          [&](const DeltaNet& net) {
                              keys.mixer = MixerKind::DeltaNet;
                              keys.delta_net = net;
                          },
                          [&](const NoMixer&) { keys.mixer = MixerKind::None; }},
               layer.mixer);
    keys.norm_position = layer.norms;
    keys.parallel_residual = layer.parallel;
    keys.one_norm = layer.one_norm;
    keys.mamba_beside = layer.beside.has_value();
    if (layer.beside) keys.mamba = layer.beside;
    return keys;
}

}  // namespace debubble::models
