#include <cstdint>
#include <optional>

#include "models/hf/classes.h"

/// Configurations of networks that are further from Llama: Gemma, gpt-oss, OLMo 2, Phi-3, Nemotron
/// and GPT-NeoX.
namespace debubble::models {

namespace {

/// The ids of transformers' defaults may be beyond the vocabulary.
void drop_padding(HfJson& json) {
    json["pad_token_id"] = nullptr;
}

HfJson cap(const std::optional<double>& value) {
    return value ? HfJson(*value) : HfJson(nullptr);
}

/// transformers demands integers of some keys.
HfJson number(double value) {
    const auto whole = static_cast<std::int64_t>(value);
    return static_cast<double>(whole) == value ? HfJson(whole) : HfJson(value);
}

double rotated_part(const LayerKeys& layer) {
    return static_cast<double>(layer.rotary_dim.value_or(layer.head_dim)) /
           static_cast<double>(layer.head_dim);
}

/// The first layer's keys with a window, or without; any layer's if there is none.
LayerKeys layer_with(bool window, const Architecture& a) {
    for (const Layer& layer : a.layers.kinds())
        if (keys_of(layer).window.has_value() == window) return keys_of(layer);
    return keys_of(a.layers[0]);
}

HfJson gemma(const Architecture& a, const LayerKeys& layer) {
    HfJson json = llama_kind(a, layer);
    json.erase("hidden_act");
    json["attention_bias"] = false;
    json["attn_logit_softcapping"] = cap(layer.score_softcap);
    json["final_logit_softcapping"] = cap(a.logit_softcap);
    json["hidden_activation"] = hf_activation(layer.activation);
    json["query_pre_attn_scalar"] =
        number(layer.query_pre_attn_scalar.value_or(static_cast<double>(layer.head_dim)));
    add_windows(json, a);
    drop_padding(json);
    return json;
}

}  // namespace

HfJson gemma2_config(const Architecture& a) {
    return gemma(a, hf_layer(a));
}

HfJson gemma3_config(const Architecture& a) {
    HfJson json = gemma(a, layer_with(false, a));
    json["rope_local_base_freq"] = layer_with(true, a).rope_theta;
    return json;
}

HfJson gpt_oss_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json = llama_kind(a, layer);
    json["attention_bias"] = true;
    json["hidden_act"] = "silu";
    json["num_experts_per_tok"] = layer.experts_per_token;
    json["num_local_experts"] = layer.experts;
    json["swiglu_limit"] = kClampedSwigluLimit;
    add_windows(json, a);
    return json;
}

HfJson olmo2_config(const Architecture& a) {
    HfJson json = llama_kind(a, hf_layer(a));
    json["attention_bias"] = false;
    drop_padding(json);
    return json;
}

HfJson phi3_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json = llama_kind(a, layer);
    json["original_max_position_embeddings"] =
        layer.rope_scaling ? layer.rope_scaling->original_positions : a.max_positions;
    json["partial_rotary_factor"] = rotated_part(layer);
    json["sliding_window"] = layer.window ? HfJson(*layer.window) : HfJson(nullptr);
    drop_padding(json);
    return json;
}

HfJson nemotron_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json = llama_kind(a, layer);
    json.erase("rms_norm_eps");
    json["attention_bias"] = json["mlp_bias"] = false;
    json["norm_eps"] = a.norm_eps;
    json["partial_rotary_factor"] = rotated_part(layer);
    return json;
}

HfJson gpt_neox_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json;
    json["attention_bias"] = layer.qkv_bias.value_or(layer.linear_bias);
    for (const char* key : {"attention_dropout", "hidden_dropout"}) json[key] = a.dropout;
    json["hidden_act"] = hf_activation(layer.activation);
    json["intermediate_size"] = layer.ffn;
    json["layer_norm_eps"] = a.norm_eps;
    json["rotary_emb_base"] = layer.rope_theta;
    json["rotary_pct"] = rotated_part(layer);
    json["use_parallel_residual"] = layer.parallel_residual;
    add_sizes(json, a);
    return json;
}

}  // namespace debubble::models
