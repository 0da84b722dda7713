#include "exec/io/data/tokens/bpe.h"

#include <array>
#include <cstdint>

namespace debubble::exec {
namespace {

// Characters of Latin-1, then one for each byte that is not printable.
constexpr int kCodes = 256 + 68;

constexpr bool is_printable(int byte) {
    return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct Alphabet {
    std::array<std::uint16_t, 256> code{};  ///< Unicode code point, by byte
    std::array<std::int16_t, kCodes> byte{};

    constexpr Alphabet() {
        byte.fill(-1);
        int next = 256;
        for (int b = 0; b < 256; ++b) {
            code[b] = static_cast<std::uint16_t>(is_printable(b) ? b : next++);
            byte[code[b]] = static_cast<std::int16_t>(b);
        }
    }
};
constexpr Alphabet kAlphabet;

}  // namespace

std::string symbol_of(unsigned char byte) {
    const int code = kAlphabet.code[byte];
    if (code < 0x80) return {static_cast<char>(code)};
    return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

std::optional<std::string> bytes_of(std::string_view symbols) {
    std::string bytes;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        int code = static_cast<unsigned char>(symbols[i]);
        if (code >= 0x80) {  // all codes of the alphabet have two bytes
            if ((code & 0xe0) != 0xc0 || i + 1 == symbols.size()) return std::nullopt;
            code = (code & 0x1f) << 6 | (static_cast<unsigned char>(symbols[++i]) & 0x3f);
        }
        if (code >= kCodes || kAlphabet.byte[code] < 0) return std::nullopt;
        bytes += static_cast<char>(kAlphabet.byte[code]);
    }
    return bytes;
}

}  // namespace debubble::exec
