#pragma once

#include <string>
#include <string_view>

#include "models/network/architecture.h"
#include "text/document.h"

/// config.json of a Hugging Face checkpoint, read and written. Keys that do not change the network
/// are ignored; values that this project does not support are mistakes.
namespace debubble::models {

/// True if this map looks like such a file, rather than like our own YAML.
bool is_hf_config(const text::Node& map);

/// If it adds a mistake, the result has no meaning.
Architecture read_hf_config(const text::NodePtr& map, text::Mistakes& mistakes);

struct HfConfig {
    std::string type;  ///< its `model_type`
    std::string text;
};

/// The network as config.json of the first class of transformers whose configuration is read as the
/// same network (classes.h), for weights stored as `torch_type` ("float32"). Throws InputError
/// where there is none, with what the nearest lacks.
HfConfig hf_config(const Architecture& architecture, std::string_view torch_type = "float32");

}  // namespace debubble::models
