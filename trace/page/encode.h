#pragma once

#include <string>
#include <string_view>

/// Texts and bytes in the forms that a page can hold.
namespace debubble::page {

/// Text as HTML shows it, in an element or in a quoted attribute; control characters are written
/// out.
std::string escaped(std::string_view text);

/// The bytes in zlib's format (RFC 1950), which a browser's DecompressionStream("deflate") reads.
std::string deflated(std::string_view bytes);

/// RFC 4648, section 4.
std::string base64(std::string_view bytes);

}  // namespace debubble::page
