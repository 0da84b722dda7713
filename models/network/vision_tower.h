#pragma once

#include <cstdint>
#include <vector>

#include "models/network/layers.h"

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

}  // namespace debubble::models
