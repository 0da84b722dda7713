#pragma once

#include <string>
#include <string_view>

/// Encodings of texts and bytes in a page.
namespace debubble::page {

/// Text for an HTML element or a quoted attribute. Control characters are spelt out.
std::string escaped(std::string_view text);

/// The bytes in zlib's format (RFC 1950), which a browser's DecompressionStream("deflate") reads.
std::string deflated(std::string_view bytes);

/// The bytes in base64 (RFC 4648, section 4).
std::string base64(std::string_view bytes);

}  // namespace debubble::page
