#pragma once

#include <cstdint>
#include <optional>

#include "models/network/layer.h"

namespace debubble::models {

enum class MixerKind : std::uint8_t { Attention, Mamba, DeltaNet, None };

/// A layer as files describe it: one value per key. Keys that the layer's kind does not use keep
/// their values.
struct LayerKeys {
    std::int64_t heads = 1;
    std::int64_t kv_heads = 1;
    std::int64_t head_dim = 1;
    std::int64_t ffn = 1;
    std::int64_t experts = 0;  ///< 0: one MLP for every token
    std::int64_t experts_per_token = 1;
    Activation activation = Activation::GeluTanh;
    bool linear_bias = true;  ///< biases on qkv, attention output, MLP and experts
    bool rotary = false;
    double rope_theta = 10000;
    std::optional<bool> qkv_bias = {};           ///< `linear_bias` if unset
    std::optional<std::int64_t> value_dim = {};  ///< `head_dim` if unset
    std::optional<std::int64_t> rotary_dim = {};
    std::optional<RopeScaling> rope_scaling = {};
    QkNorm qk_norm = QkNorm::None;
    std::optional<bool> output_bias = {};  ///< `linear_bias` if unset
    std::optional<std::int64_t> window = {};
    std::optional<std::int64_t> chunk = {};
    std::optional<LatentAttention> latent = {};
    bool sinks = false;
    std::optional<double> score_softcap = {};
    std::optional<double> query_pre_attn_scalar = {};
    std::optional<QueryTemperature> temperature = {};
    bool alibi = false;
    std::int64_t shared_ffn = 0;
    Router router = Router::Softmax;
    std::int64_t router_groups = 1;
    std::int64_t router_groups_chosen = 1;
    bool router_renormalises = true;
    double router_scaling = 1;
    RouterDtype router_dtype = RouterDtype::Compute;
    bool router_bias = false;
    bool router_bias_correction = false;
    bool weighs_experts_input = false;
    NormPosition norm_position = NormPosition::Before;
    bool parallel_residual = false;
    bool one_norm = false;
    bool mamba_beside = false;  ///< `mamba` is parallel to attention
    MixerKind mixer = MixerKind::Attention;
    bool mlp = true;
    std::optional<Mamba> mamba = {};
    std::optional<DeltaNet> delta_net = {};
    bool output_gate = false;
    bool head_gate = false;
    bool keys_are_values = false;
    bool value_norm = false;
    std::optional<SparseChoice> sparse = {};
    std::optional<CompressedKeys> compressed = {};
    bool expert_latent_norm = false;
    bool hashed_router = false;
    std::int64_t beside_ffn = 0;
    bool shared_gate = false;
    std::int64_t expert_latent = 0;
    friend bool operator==(const LayerKeys&, const LayerKeys&) = default;
};

Layer layer_of(const LayerKeys& keys);
LayerKeys keys_of(const Layer& layer);

}  // namespace debubble::models
