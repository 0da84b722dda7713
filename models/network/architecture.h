#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/network/layers.h"
#include "models/network/sharding.h"

/// The network itself, as published, without anything about GPUs, batches or pipelines.
namespace debubble::models {

/// A vision transformer in front of a language model, and the projector that makes tokens of what
/// it sees: they stand in the sequence in place of placeholders. It is part of the first stage, as
/// in Megatron-Bridge's qwen3_vl (067f987, models/qwen_vl/modelling_qwen3_vl/model.py), where every
/// context-parallel rank computes all images of its samples.
struct VisionTower {
    struct Product {
        std::int64_t inputs = 1;
        std::int64_t outputs = 1;
        friend bool operator==(const Product&, const Product&) = default;
    };

    std::int64_t hidden = 1;  ///< [w]
    Layers layers;
    Norm norm = Norm::LayerNorm;
    std::int64_t patch_values = 768;  ///< numbers of a patch: its pixels, channels and frames
    bool patch_bias = true;
    std::int64_t positions = 0;  ///< rows of its learned tables of positions
    bool class_token = false;    ///< a row more than patches
    bool norm_before = false;    ///< a norm before the first layer
    bool norm_after = false;     ///< and one after the last
    std::int64_t merge = 4;      ///< patches of a token
    bool pools = false;  ///< a token is made of the mean of its patches, not of all side by side
    /// The projector begins with a norm of `hidden`.
    bool projector_norm = true;
    std::vector<Product> projector = {};  ///< with a GELU between each two
    bool projector_bias = true;
    /// The outputs of these layers pass through their own projectors and are added to the hidden
    /// state after the first layers of the language model (DeepStack, arXiv:2406.04334).
    std::vector<int> deepstack = {};
    /// Tensor-parallel ranks cut it as the language model. Else each has it whole, as frameworks do
    /// that run Hugging Face's class of it.
    bool cut = true;

    // Options of a training.
    std::int64_t images = 1;          ///< of a sample, each of which sees itself alone
    std::int64_t image_tokens = 576;  ///< tokens of an image in the sequence
    bool frozen = false;              ///< it is not trained, and has no backward
    bool frozen_projector = false;
    friend bool operator==(const VisionTower&, const VisionTower&) = default;

    std::int64_t patches() const { return image_tokens * merge; }
    /// Tokens that it sees of an image.
    std::int64_t rows() const { return patches() + (class_token ? 1 : 0); }
    std::int64_t tokens_of_sample() const { return images * image_tokens; }
};

/// Decides only which tensors a checkpoint has and their (Hugging Face's) names: weight_format.h,
/// layer_names.h. All else is a property of the architecture.
enum class Family {
    Gpt2,
    GptNeox,
    Mpt,
    Llama,
    Phi3,
    Deepseek,
    GptOss,
    Llama4,
    Qwen3Next,
    NemotronH,
    Planned,  ///< of networks that nothing reads, writes or executes: it holds every kind of layer
    Vit
};
struct Architecture {
    std::string name;
    std::string source;  ///< paper or repository of the figures
    Family family = Family::Gpt2;
    Layers layers = {Layer{}, 1};
    std::int64_t hidden = 1;
    std::int64_t vocab = 1;          ///< number of tokens; of classes for a ViT
    std::int64_t max_positions = 1;  ///< number of tokens; patches + class token for a ViT
    Norm norm = Norm::LayerNorm;
    bool learned_positions = true;  ///< a table of positions is added to the embedding
    bool tied_embedding = true;     ///< the head is the token embedding
    bool causal = true;
    double dropout = 0;  ///< dropout of hidden values and attention probabilities in the published
                         ///< recipe
    double norm_eps = 1e-5;
    /// Checkpoints hold the weights of norms minus 1, so that 0 is no scale (Megatron-LM's
    /// --apply-layernorm-1p; Gemma, Nemotron). Only code that reads and writes weights depends on
    /// it.
    bool zero_centred_norms = false;
    bool norm_bias = true;          ///< of layer norms; RMS norms have none
    bool scaled_embedding = false;  ///< embedded tokens are multiplied by the root of `hidden`
    std::optional<double> logit_softcap = {};  ///< logits are cap tanh(logit / cap)
    /// Depths of multi-token prediction (DeepSeek-V3, arXiv:2412.19437, section 2.2): modules after
    /// the last layer, each with a layer like it, that predict one token further.
    int mtp_layers = 0;
    /// Residual streams of a token, which every part of a layer mixes before and after it
    /// (hyper-connections, arXiv:2409.19606; DeepSeek-V4).
    std::int64_t streams = 1;
    /// Number of layers after which the residual sum is stored and restarted; every part of a layer
    /// reads a mixture of all stored sums (Kimi K3's attention residuals). Unset: one sum.
    std::optional<std::int64_t> residual_block = {};
    std::optional<std::int64_t> image_size = {};  ///< ViT: pixels per side
    std::optional<std::int64_t> patch_size = {};
    std::optional<std::int64_t> channels = {};
    std::optional<VisionTower> tower = {};  ///< what makes tokens of images
    /// Parts of a published network that are not modelled, as phrases: "without ...".
    std::vector<std::string> left_out = {};
    /// Parameters of a part that sees which is left out, as far as somebody counts them.
    std::int64_t tower_parameters = 0;
    std::vector<ShardingOverride> sharding = {};  ///< exceptions from Megatron's cut, which is the
                                                  ///< default
    friend bool operator==(const Architecture&, const Architecture&) = default;

    /// A layer of the network, or, counted on from its last, one of multi-token prediction.
    /// Precondition: the network has layers.
    const Layer& layer_at(int index) const {
        return index < layers.count() ? layers[index] : layers.ahead();
    }
    /// The last stage has a copy of the token embedding, if it is not the first one too.
    bool shares_embedding() const { return tied_embedding || mtp_layers > 0; }
    /// Rows of the hidden width that a token's residual stream has before a layer.
    std::int64_t stream_rows(int layer) const {
        if (!residual_block) return streams;
        return 1 + (layer + *residual_block - 1) / *residual_block;
    }
    bool mixes_streams() const { return streams > 1 || residual_block; }
    bool has_experts() const { return layers.first<Experts>() != nullptr; }
    /// True if queries and keys of any layer are rotated.
    bool has_rotary() const {
        const auto rotates = [](const Attention& attention) { return attention.rotary; };
        return layers.most<Attention>(rotates) > 0;
    }
    /// The inputs are images, cut into patches, and the network tells classes of them apart. Other
    /// networks read tokens.
    bool sees_images() const { return image_size.has_value(); }
};

}  // namespace debubble::models
