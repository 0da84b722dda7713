#pragma once

#include "models/network/architecture.h"
#include "text/document.h"

/// config.json of a Hugging Face checkpoint: model_type gpt2, llama or vit. Keys that do not change
/// the network are ignored; values that this project does not support (other activations, scaled
/// RoPE, ...) are mistakes.
namespace debubble::models {

/// True if this map looks like such a file, rather than like our own YAML.
bool is_hf_config(const text::Node& map);

/// If it adds a mistake, the result has no meaning.
Architecture read_hf_config(const text::NodePtr& map, text::Mistakes& mistakes);

}  // namespace debubble::models
