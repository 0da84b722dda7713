#pragma once

#include <string>
#include <string_view>

namespace debubble::page {

/// Text as HTML shows it, in an element or in a quoted attribute; control characters are written
/// out.
std::string escaped(std::string_view text);

}  // namespace debubble::page
