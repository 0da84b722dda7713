#pragma once

#include <filesystem>
#include <string>

#include "text/document.h"

/// YAML texts may be hostile: their length, depth, number of nodes and the size of the tree with
/// its aliases expanded are all bounded.
namespace debubble::text {

inline constexpr std::size_t kLongestYaml = 1 << 20;    ///< in bytes
inline constexpr std::size_t kMostYamlNodes = 100'000;  ///< counted with aliases expanded
inline constexpr int kDeepestYaml = 64;

/// Anchors, aliases and merge keys (`<<`) are resolved. Throws InputError with every mistake found;
/// a syntax error ends the reading. An empty text gives Null.
NodePtr parse_yaml(std::string text, const std::string& file);
/// A value that is written at `place` of a text that is not YAML itself (`--set key=value`). It
/// must be on one line, so that columns are right.
NodePtr parse_yaml_value(const std::string& value, const SourcePosition& place);
NodePtr read_yaml(const std::filesystem::path& path);

/// Throws InputError, with its place, for a NUL or another control character and for bytes that are
/// not UTF-8.
void check_characters(const std::shared_ptr<const SourceText>& source);

}  // namespace debubble::text
