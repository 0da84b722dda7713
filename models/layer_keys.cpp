#include "models/layer_keys.h"

#include "base/overloaded.h"

namespace debubble::models {

namespace {

Attention attention_of(const LayerKeys& keys) {
    Attention attention{keys.heads, keys.kv_heads, keys.head_dim};
    attention.qkv_bias = keys.qkv_bias.value_or(keys.linear_bias);
    attention.output_bias = keys.linear_bias;
    attention.value_dim = keys.value_dim > 0 ? keys.value_dim : keys.head_dim;
    attention.rotary_dim = keys.rotary_dim;
    attention.rope_scaling = keys.rope_scaling;
    attention.qk_norm = keys.qk_norm;
    attention.window = keys.window;
    attention.latent = keys.latent;
    attention.rotary = keys.rotary;
    attention.rope_theta = keys.rope_theta;
    return attention;
}

}  // namespace

Layer layer_of(const LayerKeys& keys) {
    Layer layer;
    switch (keys.mixer) {
        case MixerKind::Attention: layer.mixer = attention_of(keys); break;
        case MixerKind::None: layer.mixer = NoMixer{}; break;
    }
    if (!keys.mlp)
        layer.mlp = NoMlp{};
    else if (keys.experts > 0)
        layer.mlp = Experts{keys.experts,    keys.experts_per_token, keys.ffn,
                            keys.activation, keys.shared_ffn,        keys.router};
    else
        layer.mlp = DenseMlp{keys.ffn, keys.activation, keys.linear_bias};
    return layer;
}

namespace {

void set_attention(LayerKeys& keys, const Attention& attention) {
    keys.heads = attention.heads;
    keys.kv_heads = attention.kv_heads;
    keys.head_dim = attention.head_dim;
    keys.linear_bias = attention.output_bias;
    if (attention.qkv_bias != attention.output_bias) keys.qkv_bias = attention.qkv_bias;
    if (attention.value_dim != attention.head_dim) keys.value_dim = attention.value_dim;
    keys.rotary_dim = attention.rotary_dim;
    keys.rope_scaling = attention.rope_scaling;
    keys.qk_norm = attention.qk_norm;
    keys.window = attention.window;
    keys.latent = attention.latent;
    keys.rotary = attention.rotary;
    keys.rope_theta = attention.rope_theta;
}

}  // namespace

LayerKeys keys_of(const Layer& layer) {
    LayerKeys keys;
    std::visit(Overloaded{[&](const Attention& attention) { set_attention(keys, attention); },
                          [&](const NoMixer&) { keys.mixer = MixerKind::None; }},
               layer.mixer);
    std::visit(Overloaded{[&](const DenseMlp& mlp) {
                              keys.ffn = mlp.ffn;
                              keys.activation = mlp.activation;
                              if (!layer.mixes()) keys.linear_bias = mlp.bias;
                          },
                          [&](const Experts& experts) {
                              keys.experts = experts.count;
                              keys.experts_per_token = experts.per_token;
                              keys.ffn = experts.ffn;
                              keys.activation = experts.activation;
                              keys.shared_ffn = experts.shared_ffn;
                              keys.router = experts.router;
                          },
                          [&](const NoMlp&) { keys.mlp = false; }},
               layer.mlp);
    return keys;
}

}  // namespace debubble::models
