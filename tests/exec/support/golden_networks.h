#pragma once

#include <string>

#include "models/architecture.h"

namespace debubble::exec {

/// The architectures of make_goldens.py.
inline models::Architecture golden_network(const std::string& name) {
    models::Architecture model;
    model.layers = 2;
    model.hidden = 24;
    model.heads = model.kv_heads = 4;
    model.head_dim = 6;
    model.ffn = name == "gpt2" ? 96 : 48;
    model.vocab = 61;
    model.max_positions = 16;
    if (name == "llama" || name == "mixtral") {
        model.family = models::Family::Llama;
        model.kv_heads = 2;
        model.norm = models::Norm::RmsNorm;
        model.norm_eps = 1e-6;
        model.activation = models::Activation::Swiglu;
        model.positions = models::Positions::Rope;
        model.linear_bias = false;
        model.tied_embedding = false;
    }
    if (name == "mixtral") {
        model.ffn = 32;
        model.experts = 4;
        model.experts_per_token = 2;
    }
    if (name == "vit") {
        model.family = models::Family::Vit;
        model.vocab = 5;
        model.max_positions = 17;
        model.activation = models::Activation::Gelu;
        model.norm_eps = 1e-12;
        model.causal = model.tied_embedding = false;
        model.image_size = 16;
        model.patch_size = 4;
        model.channels = 3;
    }
    return model;
}

}  // namespace debubble::exec
