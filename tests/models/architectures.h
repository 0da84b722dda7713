#pragma once

#include "tests/models/change_layers.h"

/// Published networks that the tests of this folder share.
namespace debubble::models {

inline Architecture gpt(int layers, std::int64_t hidden, std::int64_t heads,
                        std::int64_t vocab = 50257, std::int64_t positions = 1024) {
    Architecture model;
    model.name = "gpt";
    LayerKeys keys;
    keys.heads = keys.kv_heads = heads;
    keys.head_dim = hidden / heads;
    keys.ffn = 4 * hidden;
    model.layers = {layer_of(keys), layers};
    model.hidden = hidden;
    model.vocab = vocab;
    model.max_positions = positions;
    return model;
}

inline Architecture llama(int layers, std::int64_t hidden, std::int64_t heads,
                          std::int64_t kv_heads, std::int64_t ffn, std::int64_t vocab) {
    Architecture model = gpt(layers, hidden, heads, vocab, 8192);
    model.name = "llama";
    model.family = Family::Llama;
    change_layers(model, [&](LayerKeys& keys) {
        keys.kv_heads = kv_heads;
        keys.ffn = ffn;
        keys.activation = Activation::Swiglu;
        keys.rotary = true;
        keys.linear_bias = false;
    });
    model.learned_positions = false;
    model.norm = Norm::RmsNorm;
    model.tied_embedding = false;
    return model;
}

inline Architecture vit_base(std::int64_t classes) {
    Architecture model = gpt(12, 768, 12, classes, 197);
    model.name = "vit";
    model.family = Family::Vit;
    change_layers(model, [](LayerKeys& keys) { keys.activation = Activation::Gelu; });
    model.tied_embedding = false;
    model.causal = false;
    model.image_size = 224;
    model.patch_size = 16;
    model.channels = 3;
    return model;
}

}  // namespace debubble::models
