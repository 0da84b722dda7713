#pragma once

#include <string>

#include "text/document.h"

/// Values as YAML in one line.
namespace debubble::text {

/// True if the text is a word that reads back as itself without quotes.
bool is_plain_word(const std::string& text);

/// Flow YAML that reads back as the same tree.
std::string to_flow(const Node& node);

}  // namespace debubble::text
