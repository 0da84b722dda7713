#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace debubble::jobs {

struct ZooModel {
    std::string_view zoo;
    std::int64_t layers = 0;
};

/// The model of the zoo that a name of Hugging Face's hub has ("Qwen/Qwen3-8B", "zai-org/GLM-4.7"),
/// with its layers; nothing if the zoo has none.
std::optional<ZooModel> zoo_model_of(std::string_view name);

}  // namespace debubble::jobs
