#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"

/// The networks of tests/exec/goldens/hugging_face that have targets and gradients, one for each
/// kind that transformers builds.
namespace debubble::exec {

/// Those that are trained and go on with texts.
inline std::vector<std::string> executed_families() {
    return {"llama_scaled", "mistral",     "qwen2",    "qwen3",    "qwen3_moe",
            "deepseek_v2",  "deepseek_v3", "glm4_moe", "nemotron", "phi3",
            "gemma2",       "gemma3",      "olmo2",    "gpt_neox", "gpt_oss"};
}

/// Those whose weights are imported and exported.
inline std::vector<std::string> golden_families() {
    std::vector<std::string> names = executed_families();
    names.emplace_back("gpt_oss");
    return names;
}

inline std::filesystem::path golden_network_folder(const std::string& name) {
    return source_folder() / "tests/exec/goldens/hugging_face" / name;
}

}  // namespace debubble::exec
