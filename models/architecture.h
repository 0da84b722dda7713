#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/sharding.h"

/// The network itself, as published, without anything about GPUs, batches or pipelines.
namespace debubble::models {

/// Decides only which tensors a checkpoint has and their (Hugging Face's) names: weight_format.h,
/// layer_names.h. All else is a property of the architecture.
enum class Family { Gpt2, Llama, Vit };
enum class Norm { LayerNorm, RmsNorm };
enum class Activation { Gelu, GeluTanh, Relu, Swiglu };
enum class Positions { None, Learned, Rope };

struct Architecture {
    std::string name;
    std::string source;  ///< paper or repository of the figures
    Family family = Family::Gpt2;
    int layers = 1;
    std::int64_t hidden = 1;
    std::int64_t heads = 1;
    std::int64_t kv_heads = 1;  ///< equal to `heads` without grouped-query attention
    std::int64_t head_dim = 1;
    std::int64_t ffn = 1;  ///< inner width of the MLP; width of each half if gated
    std::int64_t experts =
        0;  ///< MLPs of a layer that a router chooses from; 0: one MLP for every token
    std::int64_t experts_per_token = 1;  ///< [k] number that the router chooses for a token
    std::int64_t vocab = 1;              ///< number of tokens; of classes for a ViT
    std::int64_t max_positions = 1;      ///< number of tokens; patches + class token for a ViT
    Norm norm = Norm::LayerNorm;
    Activation activation = Activation::GeluTanh;
    Positions positions = Positions::Learned;
    bool linear_bias = true;     ///< biases on qkv, attention output and MLP
    bool tied_embedding = true;  ///< the head is the token embedding
    bool causal = true;
    double dropout = 0;  ///< dropout of hidden values and attention probabilities in the published
                         ///< recipe
    double norm_eps = 1e-5;
    double rope_theta = 10000;
    std::optional<std::int64_t> image_size = {};  ///< ViT: pixels per side
    std::optional<std::int64_t> patch_size = {};
    std::optional<std::int64_t> channels = {};
    std::vector<ShardingOverride> sharding = {};  ///< exceptions from Megatron's cut, which is the
                                                  ///< default
    friend bool operator==(const Architecture&, const Architecture&) = default;

    bool gated() const { return activation == Activation::Swiglu; }
    /// The inputs are images, cut into patches, and the network tells classes of them apart. Other
    /// networks read tokens.
    bool sees_images() const { return image_size.has_value(); }
};

}  // namespace debubble::models
