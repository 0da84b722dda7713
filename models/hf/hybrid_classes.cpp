#include "models/hf/classes.h"

#include <cmath>

/// Configurations of networks whose layers differ in more than a window, and of MPT.
namespace debubble::models {

namespace {

/// The keys of the first layer that is rotated, or of any.
LayerKeys rotated_layer(const Architecture& a) {
    for (const Layer& layer : a.layers.kinds())
        if (const LayerKeys keys = keys_of(layer); keys.rotary) return keys;
    return hf_layer(a);
}

/// Those of the first one that has a temperature, or of any.
LayerKeys grown_layer(const Architecture& a) {
    for (const Layer& layer : a.layers.kinds())
        if (const LayerKeys keys = keys_of(layer); keys.temperature) return keys;
    return hf_layer(a);
}

void add_shared_expert(HfJson& json, const Architecture& a) {
    json["shared_expert_intermediate_size"] = hf_layer(a).shared_ffn;
}

void add_delta_nets(HfJson& json, const Architecture& a) {
    const auto* net = a.layers.first<DeltaNet>();
    if (net == nullptr) return;
    json["linear_conv_kernel_dim"] = net->convolution;
    json["linear_key_head_dim"] = net->key_dim;
    json["linear_num_key_heads"] = net->key_heads;
    json["linear_num_value_heads"] = net->value_heads;
    json["linear_value_head_dim"] = net->value_dim;
}

}  // namespace

/// transformers builds it with ALiBi and without biases alone.
HfJson mpt_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json;
    json["attn_config"] = {{"alibi", true}, {"alibi_bias_max", 8}};
    json["d_model"] = a.hidden;
    json["expansion_ratio"] = 4;  // whatever a file says, its class has this
    json["layer_norm_epsilon"] = a.norm_eps;
    json["max_seq_len"] = a.max_positions;
    json["n_heads"] = layer.heads;
    json["n_layers"] = a.layers.count();
    json["no_bias"] = true;
    json["tie_word_embeddings"] = a.tied_embedding;
    json["vocab_size"] = a.vocab;
    return json;
}

HfJson llama4_config(const Architecture& a) {
    const LayerKeys rotated = rotated_layer(a), grown = grown_layer(a), layer = hf_layer(a);
    HfJson json = llama_kind(a, layer);
    add_rope(json, rotated);
    json["attention_bias"] = false;
    json["attention_chunk_size"] = rotated.chunk.value_or(a.max_positions);
    json["attn_temperature_tuning"] = grown.temperature.has_value();
    if (grown.temperature) {
        json["attn_scale"] = grown.temperature->scale;
        json["floor_scale"] = std::llround(grown.temperature->floor);  // a whole number there
    }
    json["intermediate_size_mlp"] = layer.ffn;
    json["moe_layers"] = json["no_rope_layers"] = HfJson::array();
    for (int i = 0; i < a.layers.count(); ++i) {
        const LayerKeys one = keys_of(a.layers[i]);
        json["no_rope_layers"].push_back(one.rotary ? 1 : 0);
        if (one.experts > 0)
            json["moe_layers"].push_back(i);
        else
            json["intermediate_size_mlp"] = one.ffn;
    }
    json["num_experts_per_tok"] = layer.experts_per_token;
    json["num_local_experts"] = layer.experts;
    json["use_qk_norm"] = rotated.qk_norm == QkNorm::L2;
    return json;
}

HfJson qwen2_moe_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json = qwen3_moe_config(a);
    json.erase("attention_bias");
    json["qkv_bias"] = layer.qkv_bias.value_or(layer.linear_bias);
    add_shared_expert(json, a);
    return json;
}

HfJson qwen3_next_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json = qwen3_moe_config(a);
    for (const Layer& kind : a.layers.kinds())
        if (const LayerKeys keys = keys_of(kind); kind.as<Attention>() != nullptr)
            json["partial_rotary_factor"] =
                static_cast<double>(keys.rotary_dim.value_or(keys.head_dim)) /
                static_cast<double>(keys.head_dim);
    json["layer_types"] = HfJson::array();
    for (int i = 0; i < a.layers.count(); ++i)
        json["layer_types"].push_back(a.layers[i].is_recurrent() ? "linear_attention"
                                                                 : "full_attention");
    add_shared_expert(json, a);
    add_delta_nets(json, a);
    return json;
}

}  // namespace debubble::models
