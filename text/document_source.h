#pragma once

#include <memory>
#include <string>

#include "text/document.h"

/// Limits on a YAML or JSON text, which may be hostile.
namespace debubble::text {

inline constexpr std::size_t kLongestDocument = 1 << 20;  ///< in bytes
inline constexpr std::size_t kMostValues = 100'000;       ///< counted with aliases expanded
/// Those of JSON, which nothing expands: a config.json may list some thousand modules of a
/// quantised network by name, in several MB.
inline constexpr std::size_t kLongestJson = 32 << 20;
inline constexpr std::size_t kMostJsonValues = 1'000'000;
inline constexpr std::size_t kDeepestDocument = 64;  ///< lists and maps inside each other

/// The text of a file, ready to be read. Throws InputError if it is longer than `longest` bytes, or
/// as check_characters() does.
std::shared_ptr<const SourceText> checked_source(std::string text, const std::string& file,
                                                 int first_line = 1,
                                                 std::size_t longest = kLongestDocument);

/// Throws InputError, with its place, for a NUL or another control character and for bytes that are
/// not UTF-8.
void check_characters(const std::shared_ptr<const SourceText>& source);

/// The sentences about a text that passes a bound.
std::string too_many_values(std::size_t most = kMostValues);
std::string too_deep();

}  // namespace debubble::text
