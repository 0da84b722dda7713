#pragma once

#include <string>

#include "models/architecture.h"
#include "text/shipped_files.h"

namespace debubble::models {

/// The value of a `model:` key: zoo name, path of a YAML file or of a Hugging Face
/// config.json, or a map (whose `base` may be any of these but config.json). Keys
/// are the fields of Architecture; what a family always has need not be said, and
/// kv_heads, head_dim and ffn follow from heads and hidden (GPT-2's: ffn = 4 hidden).
/// Nothing is promised of the result if it adds a mistake.
Architecture read_architecture(const text::NodePtr& value, text::ShippedFiles& shipped,
                               text::Mistakes& mistakes);

/// A map that says everything itself: no `base` is looked for, no file opened.
Architecture read_own_architecture(const text::NodePtr& map, text::Mistakes& mistakes);

/// The same for a name or path given on the command line. Throws InputError.
Architecture read_model(const std::string& name_or_path);

/// Names in the zoo, sorted.
std::vector<std::string> zoo();

}  // namespace debubble::models
