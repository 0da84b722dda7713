#pragma once

#include <string>
#include <vector>

#include "models/network/architecture.h"
#include "text/key.h"
#include "text/shipped_files.h"

namespace debubble::models {

/// The architecture that the value of a `model:` key describes: zoo name, path of a YAML file or of
/// a Hugging Face config.json, or a map (whose `base` may be any of these but config.json). Keys
/// are the fields of Architecture; what a family always has may be left out, and kv_heads, head_dim
/// and ffn follow from heads and hidden (for GPT-2, ffn = 4 hidden). If it adds a mistake, the
/// result has no meaning.
Architecture read_architecture(const text::NodePtr& value, text::ShippedFiles& shipped,
                               text::Mistakes& mistakes);

/// The architecture of a map that gives every value itself: no `base` is looked up, no file opened.
Architecture read_own_architecture(const text::NodePtr& map, text::Mistakes& mistakes);

/// The architecture of a name or path given on the command line. Throws InputError.
Architecture read_model(const std::string& name_or_path);

/// The description of an architecture's keys.
std::vector<text::Key> architecture_keys();

/// The names in the zoo, sorted.
std::vector<std::string> zoo();

}  // namespace debubble::models
