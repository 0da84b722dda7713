#pragma once

#include <string>
#include <string_view>

/// Text that others wrote, before a terminal sees it: a control character in it could move the
/// cursor, rename the window or hide what stands before.
namespace debubble {

/// Has it no control character (C0, DEL, or C1 in UTF-8)? Line feeds and tabs are none.
bool is_printable(std::string_view text);

/// The text with "\x1b" and the like in the place of control characters.
std::string printable(std::string_view text);

}  // namespace debubble
