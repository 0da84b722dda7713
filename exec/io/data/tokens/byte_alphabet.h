#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace debubble::exec {

/// The character that represents a byte in the vocabularies of byte-level BPE, in UTF-8: a
/// printable byte is its Latin-1 character, the n-th other one U+0100 + n (OpenAI's GPT-2,
/// encoder.py, bytes_to_unicode).
std::string symbol_of(unsigned char byte);

/// The bytes that the characters represent; nothing if one of them represents no byte.
std::optional<std::string> bytes_of(std::string_view symbols);

}  // namespace debubble::exec
