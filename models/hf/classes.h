#pragma once

#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/network/architecture.h"
#include "models/read/layer_keys.h"

/// The classes of transformers for which config.json is written. Private to the folder: users see
/// hf_config.h.
namespace debubble::models {

using HfJson = nlohmann::ordered_json;

struct HfClass {
    std::string_view name;  ///< "Qwen3ForCausalLM"
    std::string_view type;  ///< its `model_type`
    /// The configuration, as far as this class can say what the network is.
    HfJson (*config)(const Architecture& architecture);
};

/// The classes of a family, the plainest first: what one of them describes, a later one may too.
/// None for a family that is planned only.
std::span<const HfClass> hf_classes(Family family);

std::string_view hf_activation(Activation activation);

/// The keys of the layers that most of a configuration's keys are about: those with experts where
/// some have them.
LayerKeys hf_layer(const Architecture& architecture);

// Parts of configurations, in transformers' words.
void add_sizes(HfJson& json, const Architecture& a);
void add_rope(HfJson& json, const LayerKeys& layer);
/// All of that, and what else nearly every network since Llama says. `intermediate_size` is that of
/// `layer`.
HfJson llama_kind(const Architecture& a, const LayerKeys& layer);
/// Experts of DeepSeek's kind, and the dense layers before them.
void add_deepseek_experts(HfJson& json, const Architecture& a);
/// `sliding_window`, and `layer_types` where layers differ.
void add_windows(HfJson& json, const Architecture& a);

HfJson gpt2_config(const Architecture& a);
HfJson vit_config(const Architecture& a);
HfJson llama_config(const Architecture& a);
HfJson mixtral_config(const Architecture& a);
HfJson mistral_config(const Architecture& a);
HfJson qwen2_config(const Architecture& a);
HfJson qwen3_config(const Architecture& a);
HfJson qwen3_moe_config(const Architecture& a);
HfJson deepseek_v2_config(const Architecture& a);
HfJson deepseek_v3_config(const Architecture& a);
HfJson glm4_moe_config(const Architecture& a);
HfJson gpt_oss_config(const Architecture& a);
HfJson gemma2_config(const Architecture& a);
HfJson gemma3_config(const Architecture& a);
HfJson olmo2_config(const Architecture& a);
HfJson phi3_config(const Architecture& a);
HfJson nemotron_config(const Architecture& a);
HfJson gpt_neox_config(const Architecture& a);
HfJson mpt_config(const Architecture& a);
HfJson llama4_config(const Architecture& a);
HfJson qwen2_moe_config(const Architecture& a);
HfJson qwen3_next_config(const Architecture& a);

}  // namespace debubble::models
