#pragma once

#include <filesystem>
#include <string>

#include "text/document.h"

/// YAML texts are hostile: their length, depth, number of nodes and the size that
/// aliases would blow them up to are all bounded.
namespace debubble::text {

inline constexpr std::size_t kLongestYaml = 1 << 20;    ///< bytes
inline constexpr std::size_t kMostYamlNodes = 100'000;  ///< aliases expanded
inline constexpr int kDeepestYaml = 64;

/// Anchors, aliases and merge keys (`<<`) are resolved. Throws InputError with
/// every mistake found; a syntax error ends the search. An empty text is Null.
NodePtr parse_yaml(std::string text, const std::string& file);
/// A value that stands at `place` of a text that is not YAML itself (`--set key=value`);
/// of one line, so that columns can be told.
NodePtr parse_yaml_value(const std::string& value, const Place& place);
NodePtr read_yaml(const std::filesystem::path& path);

/// Throws InputError, with its place, for a NUL or another control character and
/// for bytes that are not UTF-8.
void check_characters(const std::shared_ptr<const SourceText>& source);

}  // namespace debubble::text
