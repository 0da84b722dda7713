#include "models/layer_keys.h"

#include "base/overloaded.h"

namespace debubble::models {

Layer layer_of(const LayerKeys& keys) {
    Layer layer;
    Attention attention{keys.heads, keys.kv_heads, keys.head_dim};
    attention.qkv_bias = attention.output_bias = keys.linear_bias;
    attention.rotary = keys.rotary;
    attention.rope_theta = keys.rope_theta;
    layer.mixer = attention;
    if (keys.experts > 0)
        layer.mlp = Experts{keys.experts, keys.experts_per_token, keys.ffn, keys.activation};
    else
        layer.mlp = DenseMlp{keys.ffn, keys.activation, keys.linear_bias};
    return layer;
}

LayerKeys keys_of(const Layer& layer) {
    LayerKeys keys;
    std::visit(
        [&](const Attention& attention) {
            keys.heads = attention.heads;
            keys.kv_heads = attention.kv_heads;
            keys.head_dim = attention.head_dim;
            keys.linear_bias = attention.qkv_bias;
            keys.rotary = attention.rotary;
            keys.rope_theta = attention.rope_theta;
        },
        layer.mixer);
    std::visit(Overloaded{[&](const DenseMlp& mlp) {
                              keys.ffn = mlp.ffn;
                              keys.activation = mlp.activation;
                          },
                          [&](const Experts& experts) {
                              keys.experts = experts.count;
                              keys.experts_per_token = experts.per_token;
                              keys.ffn = experts.ffn;
                              keys.activation = experts.activation;
                          }},
               layer.mlp);
    return keys;
}

}  // namespace debubble::models
