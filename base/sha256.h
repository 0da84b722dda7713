#pragma once

#include <string>
#include <string_view>

namespace debubble {

/// SHA-256 of the bytes, as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace debubble
