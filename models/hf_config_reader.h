#pragma once

#include "models/architecture.h"
#include "text/document.h"

/// config.json of a Hugging Face checkpoint: model_type gpt2, llama or vit. Keys
/// that do not change the network are passed over; values that this project does
/// not build (other activations, scaled RoPE, ...) are mistakes, not ignored.
namespace debubble::models {

/// Does this map look like one, rather than like our own YAML?
bool is_hf_config(const text::Node& map);

/// Nothing is promised of the result if it adds a mistake.
Architecture read_hf_config(const text::NodePtr& map, text::Mistakes& mistakes);

}  // namespace debubble::models
