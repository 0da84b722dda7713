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
    return {"mpt",         "llama4",   "qwen2_moe", "qwen3_next", "llama_scaled",
            "mistral",     "qwen2",    "qwen3",     "qwen3_moe",  "deepseek_v2",
            "deepseek_v3", "glm4_moe", "nemotron",  "phi3",       "gemma2",
            "gemma3",      "olmo2",    "gpt_neox",  "gpt_oss"};
}

/// Those, and the one of make_mtp.py, whose further tokens have losses of their own.
inline std::vector<std::string> golden_networks() {
    std::vector<std::string> all = golden_families();
    all.emplace_back("deepseek_v3_mtp");
    return all;
}

inline std::filesystem::path golden_network_folder(const std::string& name) {
    return source_folder() / "tests/exec/goldens/hugging_face" / name;
}

}  // namespace debubble::exec
