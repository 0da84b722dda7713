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

/// Four layers of one part each: Mamba-2, an MLP, attention, an MLP.
inline Architecture mamba_hybrid() {
    Architecture model = llama(1, 256, 8, 4, 512, 32000);
    model.name = "mamba hybrid";
    model.family = Family::NemotronH;
    LayerKeys keys = layer_keys(model);
    keys.mamba = Mamba{.heads = 8, .head_dim = 32, .state = 16, .groups = 4, .chunk = 32};
    const auto part = [&](MixerKind mixer, bool mlp) {
        LayerKeys of_part = keys;
        of_part.mixer = mixer;
        of_part.mlp = mlp;
        return layer_of(of_part);
    };
    model.layers = {part(MixerKind::Mamba, false), 1};
    model.layers.append(part(MixerKind::None, true));
    model.layers.append(part(MixerKind::Attention, false));
    model.layers.append(part(MixerKind::None, true));
    return model;
}

/// Four layers, gated delta nets and gated attention in turn, with experts beside a gated MLP.
inline Architecture delta_hybrid() {
    Architecture model = llama(1, 256, 8, 4, 64, 32000);
    model.name = "delta hybrid";
    model.family = Family::Qwen3Next;
    LayerKeys keys = layer_keys(model);
    keys.delta_net = DeltaNet{.key_heads = 4, .value_heads = 8, .key_dim = 32, .value_dim = 32};
    keys.output_gate = keys.shared_gate = true;
    keys.qk_norm = QkNorm::Heads;
    keys.experts = 8;
    keys.experts_per_token = 2;
    keys.shared_ffn = 64;
    LayerKeys recurrent = keys;
    recurrent.mixer = MixerKind::DeltaNet;
    model.layers = {};
    for (int i = 0; i < 2; ++i) {
        model.layers.append(layer_of(recurrent));
        model.layers.append(layer_of(keys));
    }
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
