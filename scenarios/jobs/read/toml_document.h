#pragma once

#include <string>

#include "text/document.h"

namespace debubble::jobs {

/// TOML as the same tree that YAML gives, with a place for every value. Throws InputError with the
/// line and column of a syntax error or an exceeded bound (text/document_source.h).
text::NodePtr parse_toml(std::string text, const std::string& file);

}  // namespace debubble::jobs
