#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// The parts of a layer that Megatron-Core recomputes or offloads by name (Megatron-LM d98e8a6,
/// core/transformer/transformer_config.py: recompute_modules, offload_modules).
namespace debubble::models {

enum class Module : std::uint8_t {
    CoreAttention,
    MoeActivation,    ///< the nonlinearity of experts
    LayerNorm,        ///< the norms that are modules of their own: those that no product after
                      ///< them fuses
    MlaUpProjection,  ///< latent attention's products out of its narrow values, and its angles
    Mlp,              ///< a dense MLP with its norm
    Moe,              ///< router, dispatch, experts and combine
    SharedExperts,
    QkvLinear,            ///< the product into queries, keys and values
    AttentionProjection,  ///< the product after attention
    AttentionNorm,
    MlpNorm,
    ExpertFc1,  ///< the experts' first product
};

inline constexpr std::array kModules{
    Module::CoreAttention,   Module::MoeActivation, Module::LayerNorm,
    Module::MlaUpProjection, Module::Mlp,           Module::Moe,
    Module::SharedExperts,   Module::QkvLinear,     Module::AttentionProjection,
    Module::AttentionNorm,   Module::MlpNorm,       Module::ExpertFc1};

/// Megatron-Core's name of the module.
constexpr std::string_view name_of(Module module) {
    switch (module) {
        case Module::CoreAttention: return "core_attn";
        case Module::MoeActivation: return "moe_act";
        case Module::LayerNorm: return "layernorm";
        case Module::MlaUpProjection: return "mla_up_proj";
        case Module::Mlp: return "mlp";
        case Module::Moe: return "moe";
        case Module::SharedExperts: return "shared_experts";
        case Module::QkvLinear: return "qkv_linear";
        case Module::AttentionProjection: return "attn_proj";
        case Module::AttentionNorm: return "attn_norm";
        case Module::MlpNorm: return "mlp_norm";
        case Module::ExpertFc1: return "expert_fc1";
    }
    return {};
}

/// A set of modules.
class Modules {
public:
    constexpr bool has(Module module) const { return (bits_ & bit(module)) != 0; }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr Modules& add(Module module) {
        bits_ = static_cast<std::uint16_t>(bits_ | bit(module));
        return *this;
    }
    constexpr Modules operator&(Modules other) const {
        Modules both;
        both.bits_ = static_cast<std::uint16_t>(bits_ & other.bits_);
        return both;
    }
    friend constexpr bool operator==(const Modules&, const Modules&) = default;

private:
    static constexpr std::uint16_t bit(Module module) {
        return static_cast<std::uint16_t>(1U << static_cast<unsigned>(module));
    }
    std::uint16_t bits_ = 0;
};

}  // namespace debubble::models
