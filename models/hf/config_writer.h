#pragma once

#include <string>
#include <string_view>

#include "models/network/architecture.h"

namespace debubble::models {

struct HfConfig {
    std::string type;  ///< its `model_type`
    std::string text;
};

/// The network as config.json of the first class of transformers whose configuration is read as the
/// same network (classes.h), for weights stored as `torch_type` ("float32"). Throws InputError
/// where there is none, with what the nearest lacks.
HfConfig hf_config(const Architecture& architecture, std::string_view torch_type = "float32");

}  // namespace debubble::models
