#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace debubble::jobs {

/// The vocabulary of the model whose tokenizer has that name or path ("Qwen/Qwen2.5-7B"), as its
/// config.json has it; nothing for a name that is not known.
std::optional<std::int64_t> vocabulary_of_model(std::string_view name);

}  // namespace debubble::jobs
