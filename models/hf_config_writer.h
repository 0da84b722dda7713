#pragma once

#include <string>
#include <string_view>

#include "models/architecture.h"

namespace debubble::models {

/// The network as config.json of the first class of transformers whose configuration is read as the
/// same network (hf_classes.h), for weights stored as `torch_type` ("float32"). Throws InputError
/// where there is none, with what the nearest lacks.
std::string hf_config(const Architecture& architecture, std::string_view torch_type = "float32");

}  // namespace debubble::models
