#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/architecture.h"
#include "models/layer_keys.h"
#include "text/mapping_reader.h"

/// The parts of which the readers of Hugging Face's config.json consist. Private to the folder:
/// users see hf_config_reader.h.
namespace debubble::models {

/// A file's network, and the keys of its layers.
struct Config {
    Architecture network;
    LayerKeys layer;
    int layers = 1;
    int dense_first = 0;                ///< layers before those with experts
    std::int64_t dense_ffn = 1;         ///< inner width of their MLPs
    std::optional<Layers> listed = {};  ///< all layers, of a file that says of each what it is
    /// The keys of layers whose tokens see all tokens, where those of `layer` have windows, and
    /// which layers these are.
    LayerKeys full_layer = {};
    std::vector<bool> full = {};
};

/// The network with its layers.
Architecture network_of(Config config);

/// Complains if a flag is set that asks for another network.
void refuse_flag(text::MappingReader& in, std::string_view key);
/// Rotary positions and their scaling. Since transformers 5 they are in a map of its own.
void read_rope(text::MappingReader& in, LayerKeys& layer);
inline constexpr std::pair<std::string_view, Activation> kGatedActivations[] = {
    {"silu", Activation::Swiglu}, {"swish", Activation::Swiglu}};
/// The same of one map of rotary positions.
void read_rope_map(text::MappingReader& in, std::string_view key, LayerKeys& layer);
/// The keys that Llama and most networks after it share; `config` holds the defaults of their
/// sizes, 0 key-value heads for as many as heads.
void read_llama_kind(text::MappingReader& in, Config& config,
                     text::Words<Activation> activations = kGatedActivations);
/// The part of a head's columns that is rotated.
void read_rotated_part(text::MappingReader& in, LayerKeys& layer, double usual);
/// The sizes that every file states.
void demand_sizes(text::MappingReader& in);
/// Which layers see all tokens, by `layer_types`; without that list, the layers i with
/// usual(i). The keys of such layers are those of `layer` without a window.
void read_layer_types(text::MappingReader& in, Config& config,
                      const std::function<bool(int)>& usual);
/// What DeepSeek's networks and GLM's say of their experts and of the dense layers before them.
void read_deepseek_experts(text::MappingReader& in, Config& config);

// Families by transformers' `model_type`.
void read_mistral(text::MappingReader& in, Config& config);
void read_qwen2(text::MappingReader& in, Config& config);
void read_qwen3(text::MappingReader& in, Config& config);
void read_qwen3_moe(text::MappingReader& in, Config& config);
void read_deepseek_v2(text::MappingReader& in, Config& config);
/// Kimi K2's too.
void read_deepseek_v3(text::MappingReader& in, Config& config);

void read_glm4_moe(text::MappingReader& in, Config& config);
void read_gpt_oss(text::MappingReader& in, Config& config);
void read_gemma2(text::MappingReader& in, Config& config);
void read_gemma3(text::MappingReader& in, Config& config);
void read_olmo2(text::MappingReader& in, Config& config);
void read_phi3(text::MappingReader& in, Config& config);
void read_nemotron(text::MappingReader& in, Config& config);
void read_gpt_neox(text::MappingReader& in, Config& config);

// Networks with recurrent layers.
void read_qwen3_next(text::MappingReader& in, Config& config);
void read_nemotron_h(text::MappingReader& in, Config& config);

}  // namespace debubble::models
