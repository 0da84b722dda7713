#pragma once

#include <filesystem>
#include <string>

#include "text/document.h"

namespace debubble::text {

/// JSON as the same tree that YAML gives, with a place for every value; with the same bounds
/// (document_source.h). Throws InputError with the line and column of a syntax error, a
/// duplicate key or an exceeded bound.
/// `first_line` is the line of the file in which the text begins.
NodePtr parse_json(std::string text, const std::string& file, int first_line = 1);
NodePtr read_json(const std::filesystem::path& path);

}  // namespace debubble::text
