#pragma once

#include <string>

#include "models/network/architecture.h"
#include "models/read/layer_keys.h"

namespace debubble::exec {

/// The architectures of make_goldens.py.
inline models::Architecture golden_network(const std::string& name) {
    models::Architecture model;
    models::LayerKeys keys;
    model.hidden = 24;
    keys.heads = keys.kv_heads = 4;
    keys.head_dim = 6;
    keys.ffn = name == "gpt2" ? 96 : 48;
    model.vocab = 61;
    model.max_positions = 16;
    if (name == "llama" || name == "mixtral") {
        model.family = models::Family::Llama;
        keys.kv_heads = 2;
        model.norm = models::Norm::RmsNorm;
        model.norm_eps = 1e-6;
        keys.activation = models::Activation::Swiglu;
        keys.rotary = true;
        model.learned_positions = false;
        keys.linear_bias = false;
        model.tied_embedding = false;
    }
    if (name == "mixtral") {
        keys.ffn = 32;
        keys.experts = 4;
        keys.experts_per_token = 2;
    }
    if (name == "vit") {
        model.family = models::Family::Vit;
        model.vocab = 5;
        model.max_positions = 17;
        keys.activation = models::Activation::Gelu;
        model.norm_eps = 1e-12;
        model.causal = model.tied_embedding = false;
        model.image_size = 16;
        model.patch_size = 4;
        model.channels = 3;
    }
    model.layers = {layer_of(keys), 2};
    return model;
}

}  // namespace debubble::exec
