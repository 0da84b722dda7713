#pragma once

#include <string>
#include <string_view>

/// Text from elsewhere, before a terminal shows it: a control character in it could move the
/// cursor, rename the window or hide the text before it.
namespace debubble {

/// True if the text has no control character (C0, DEL, or C1 in UTF-8). Line feeds and tabs do not
/// count as such.
bool is_printable(std::string_view text);

/// The text with control characters replaced by "\x1b" and the like.
std::string printable(std::string_view text);

}  // namespace debubble
