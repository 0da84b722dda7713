#pragma once

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
};

/// The network with its layers.
Architecture network_of(Config config);

/// Complains if a flag is set that asks for another network.
void refuse_flag(text::MappingReader& in, std::string_view key);
/// Rotary positions and their scaling. Since transformers 5 they are in a map of its own.
void read_rope(text::MappingReader& in, LayerKeys& layer);
/// The keys that Llama and most networks after it share; `config` holds the defaults of their
/// sizes, 0 key-value heads for as many as heads.
void read_llama_kind(text::MappingReader& in, Config& config);

// Families by transformers' `model_type`.
void read_mistral(text::MappingReader& in, Config& config);
void read_qwen2(text::MappingReader& in, Config& config);
void read_qwen3(text::MappingReader& in, Config& config);
void read_qwen3_moe(text::MappingReader& in, Config& config);
void read_deepseek_v2(text::MappingReader& in, Config& config);
/// Kimi K2's too.
void read_deepseek_v3(text::MappingReader& in, Config& config);

// Networks with recurrent layers.
void read_qwen3_next(text::MappingReader& in, Config& config);
void read_nemotron_h(text::MappingReader& in, Config& config);

}  // namespace debubble::models
