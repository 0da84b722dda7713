#pragma once

#include <string>
#include <string_view>

namespace debubble::page {

/// The bytes in zlib's format (RFC 1950), which a browser's DecompressionStream("deflate") reads.
std::string deflated(std::string_view bytes);

/// RFC 4648, section 4.
std::string base64(std::string_view bytes);

}  // namespace debubble::page
