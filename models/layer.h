#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

/// One layer of a network: the part that mixes tokens, and the MLP after it. The letters of the
/// literature are in brackets.
namespace debubble::models {

enum class Norm { LayerNorm, RmsNorm };
enum class Activation { Gelu, GeluTanh, Relu, Swiglu };

/// True if a product of a gate and a value is the activation: the MLP is twice as wide before it.
constexpr bool is_gated(Activation activation) {
    return activation == Activation::Swiglu;
}

/// Multi-head attention, with grouped keys where there are fewer of them (arXiv:2305.13245).
struct Attention {
    std::int64_t heads = 1;     ///< [a]
    std::int64_t kv_heads = 1;  ///< equal to `heads` without grouped-query attention
    std::int64_t head_dim = 1;  ///< [d]
    bool qkv_bias = true;
    bool output_bias = true;
    bool rotary = false;  ///< queries and keys are rotated by position (arXiv:2104.09864)
    double rope_theta = 10000;
    friend bool operator==(const Attention&, const Attention&) = default;

    std::int64_t query_width() const { return heads * head_dim; }
    std::int64_t key_width() const { return kv_heads * head_dim; }
};

/// One MLP for every token.
struct DenseMlp {
    std::int64_t ffn = 1;  ///< [f] inner width; the width of each half if gated
    Activation activation = Activation::GeluTanh;
    bool bias = true;
    friend bool operator==(const DenseMlp&, const DenseMlp&) = default;
};

/// MLPs without biases, of which a router chooses some for each token.
struct Experts {
    std::int64_t count = 1;      ///< [E]
    std::int64_t per_token = 1;  ///< [k]
    std::int64_t ffn = 1;        ///< [f] inner width of one expert
    Activation activation = Activation::Swiglu;
    friend bool operator==(const Experts&, const Experts&) = default;
};

struct Layer {
    std::variant<Attention> mixer;
    std::variant<DenseMlp, Experts> mlp;
    friend bool operator==(const Layer&, const Layer&) = default;

    /// The layer's part of that kind, else nullptr.
    template <class Kind>
    const Kind* as() const {
        if constexpr (std::is_same_v<Kind, Attention>)
            return std::get_if<Kind>(&mixer);
        else
            return std::get_if<Kind>(&mlp);
    }
};

}  // namespace debubble::models
