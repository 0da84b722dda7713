#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"

/// The networks of tests/exec/goldens/hugging_face that have targets and gradients, one for each
/// kind that transformers builds.
namespace debubble::exec {

/// They are imported, exported and trained, and go on with texts.
inline std::vector<std::string> golden_families() {
    return {"llama_scaled", "mistral",     "qwen2",    "qwen3",    "qwen3_moe",
            "deepseek_v2",  "deepseek_v3", "glm4_moe", "nemotron", "phi3",
            "gemma2",       "gemma3",      "olmo2",    "gpt_neox", "gpt_oss"};
}

inline std::filesystem::path golden_network_folder(const std::string& name) {
    return source_folder() / "tests/exec/goldens/hugging_face" / name;
}

}  // namespace debubble::exec
