#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace debubble {

/// The known word that `word` was probably meant to be, if one is close enough (Levenshtein
/// distance at most a third of its length, at least 1).
std::optional<std::string> did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace debubble
