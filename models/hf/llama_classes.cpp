#include <algorithm>

#include "models/hf/classes.h"

/// Configurations of Llama and of the networks after it.
namespace debubble::models {

namespace {

/// The width of the MLPs of layers without experts, or of one that no layer has.
std::int64_t dense_ffn(const Architecture& a) {
    const auto* mlp = a.layers.first<DenseMlp>();
    return mlp != nullptr ? mlp->ffn : hf_layer(a).ffn;
}

/// The number of layers without experts before the first that has them.
int dense_first(const Architecture& a) {
    int layer = 0;
    while (layer < a.layers.count() && a.layers[layer].as<Experts>() == nullptr) ++layer;
    return layer;
}

}  // namespace

HfJson llama_kind(const Architecture& a, const LayerKeys& layer) {
    HfJson json;
    json["attention_dropout"] = a.dropout;
    json["hidden_act"] = hf_activation(layer.activation);
    json["intermediate_size"] = layer.ffn;
    json["rms_norm_eps"] = a.norm_eps;
    if (!layer.latent) json["head_dim"] = layer.head_dim;
    add_sizes(json, a);
    add_rope(json, layer);
    return json;
}

HfJson llama_config(const Architecture& a) {
    HfJson json = llama_kind(a, hf_layer(a));
    json["attention_bias"] = json["mlp_bias"] = false;
    return json;
}

HfJson mixtral_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json = llama_kind(a, layer);
    json["num_experts_per_tok"] = layer.experts_per_token;
    json["num_local_experts"] = layer.experts;
    json["sliding_window"] = nullptr;
    return json;
}

HfJson mistral_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json = llama_kind(a, layer);
    json["sliding_window"] = layer.window ? HfJson(*layer.window) : HfJson(nullptr);
    return json;
}

HfJson qwen2_config(const Architecture& a) {
    HfJson json = llama_kind(a, hf_layer(a));
    add_windows(json, a);
    json["use_sliding_window"] = !json["sliding_window"].is_null();
    return json;
}

HfJson qwen3_config(const Architecture& a) {
    HfJson json = qwen2_config(a);
    json["attention_bias"] = false;
    return json;
}

HfJson qwen3_moe_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json = qwen3_config(a);
    json["decoder_sparse_step"] = 1;
    json["intermediate_size"] = dense_ffn(a);
    json["mlp_only_layers"] = HfJson::array();
    for (int i = 0; i < a.layers.count(); ++i)
        if (a.layers[i].as<Experts>() == nullptr) json["mlp_only_layers"].push_back(i);
    json["moe_intermediate_size"] = layer.ffn;
    json["norm_topk_prob"] = layer.router == Router::Softmax;
    json["num_experts"] = layer.experts;
    json["num_experts_per_tok"] = layer.experts_per_token;
    return json;
}

void add_deepseek_experts(HfJson& json, const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    json["first_k_dense_replace"] = dense_first(a);
    json["intermediate_size"] = dense_ffn(a);
    json["moe_intermediate_size"] = layer.ffn;
    json["n_group"] = layer.router_groups;
    json["n_routed_experts"] = layer.experts;
    json["n_shared_experts"] = layer.shared_ffn / std::max<std::int64_t>(layer.ffn, 1);
    json["norm_topk_prob"] = layer.router == Router::Sigmoid && layer.router_renormalises;
    json["num_experts_per_tok"] = layer.experts_per_token;
    json["num_nextn_predict_layers"] = a.mtp_layers;
    if (a.mtp_layers > 0) json["mtp_layers"] = a.mtp_layers;  // what is read of such a file
    json["routed_scaling_factor"] = layer.router_scaling;
    json["topk_group"] = layer.router_groups_chosen;
}

HfJson deepseek_v3_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    const LatentAttention latent = layer.latent.value_or(LatentAttention{});
    HfJson json = llama_kind(a, layer);
    add_deepseek_experts(json, a);
    json["attention_bias"] = false;
    json["kv_lora_rank"] = latent.key_rank;
    json["q_lora_rank"] = latent.query_rank ? HfJson(*latent.query_rank) : HfJson(nullptr);
    json["qk_nope_head_dim"] = layer.head_dim - latent.rope_dim;
    json["qk_rope_head_dim"] = latent.rope_dim;
    json["v_head_dim"] = layer.value_dim.value_or(0);
    return json;
}

HfJson deepseek_v2_config(const Architecture& a) {
    HfJson json = deepseek_v3_config(a);
    json["topk_method"] = json["n_group"] == 1 ? "greedy" : "group_limited_greedy";
    return json;
}

HfJson glm4_moe_config(const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    HfJson json = llama_kind(a, layer);
    add_deepseek_experts(json, a);
    json["attention_bias"] = layer.qkv_bias.value_or(layer.linear_bias);
    json["partial_rotary_factor"] = static_cast<double>(layer.rotary_dim.value_or(layer.head_dim)) /
                                    static_cast<double>(layer.head_dim);
    json["use_qk_norm"] = layer.qk_norm == QkNorm::Heads;
    return json;
}

}  // namespace debubble::models
