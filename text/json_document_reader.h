#pragma once

#include <filesystem>
#include <string>

#include "text/document.h"

namespace debubble::text {

/// JSON as the same tree that YAML gives, with a place for every value, and with bounds of its own
/// (document_source.h). The numbers Infinity, -Infinity and NaN that Python's json writes are read
/// too. Throws InputError with the line and column of a syntax error, a
/// duplicate key or an exceeded bound.
NodePtr parse_json(std::string text, const std::string& file);
/// The same for a text that starts at this line of its file.
NodePtr parse_json_from(int first_line, std::string text, const std::string& file);
NodePtr read_json(const std::filesystem::path& path);

}  // namespace debubble::text
