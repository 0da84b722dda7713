#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "text/document.h"

/// YAML and JSON, read as one kind of tree, within limits, since a text may be hostile.
namespace debubble::text {

// Limits on a YAML or JSON text, which may be hostile.

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

/// The bounds of document_readers.h hold for the tree with its aliases expanded.
/// Anchors, aliases and merge keys (`<<`) are resolved. Throws InputError with every mistake found;
/// a syntax error ends the reading. An empty text gives Null.
NodePtr parse_yaml(std::string text, const std::string& file);
/// A key that a map has twice.
struct RepeatedKey {
    std::string key;
    SourcePosition place;  ///< of the later one
    int first_line = 0;
};
/// A file of other software, whose readers let the last of two equal keys count; each such key is
/// added to `repeats`.
NodePtr parse_yaml_of_others(std::string text, const std::string& file,
                             std::vector<RepeatedKey>& repeats);
/// A value that is written at `place` of a text that is not YAML itself (`--set key=value`). It
/// must be on one line, so that columns are right.
NodePtr parse_yaml_value(const std::string& value, const SourcePosition& place);
NodePtr read_yaml(const std::filesystem::path& path);

/// JSON as the same tree that YAML gives, with a place for every value, and with bounds of its own
/// (document_readers.h). The numbers Infinity, -Infinity and NaN that Python's json writes are read
/// too. Throws InputError with the line and column of a syntax error, a
/// duplicate key or an exceeded bound.
NodePtr parse_json(std::string text, const std::string& file);
/// The same for a text that starts at this line of its file.
NodePtr parse_json_from(int first_line, std::string text, const std::string& file);
NodePtr read_json(const std::filesystem::path& path);

}  // namespace debubble::text
