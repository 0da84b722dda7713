#pragma once

#include <string>
#include <string_view>

#include "models/architecture.h"

namespace debubble::models {

/// The network as config.json of transformers' GPT2LMHeadModel, LlamaForCausalLM or
/// ViTForImageClassification, for weights stored as `torch_type` ("float32"). Throws InputError for
/// a network that none of them can represent, with every property that they lack.
std::string hf_config(const Architecture& architecture, std::string_view torch_type = "float32");

}  // namespace debubble::models
