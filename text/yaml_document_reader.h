#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "text/document.h"

namespace debubble::text {

/// The bounds of document_source.h hold for the tree with its aliases expanded.
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

}  // namespace debubble::text
