#include "base/diagnostic.h"

#include <fmt/format.h>

namespace debubble {
namespace {

/// Number of bytes of the control character at `at`; 0 if there is none.
std::size_t control_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (text[at] == '\n' || text[at] == '\t') return 0;
    if (byte(at) < 0x20 || byte(at) == 0x7f) return 1;
    const bool c1 =
        byte(at) == 0xc2 && at + 1 < text.size() && byte(at + 1) >= 0x80 && byte(at + 1) < 0xa0;
    return c1 ? 2 : 0;
}

}  // namespace

bool is_printable(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i)
        if (control_at(text, i) > 0) return false;
    return true;
}

std::string printable(std::string_view text) {
    if (is_printable(text)) return std::string(text);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t bytes = control_at(text, i);
        if (bytes == 0) out += text[i];
        for (std::size_t b = 0; b < bytes; ++b)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i + b]));
        if (bytes > 1) i += bytes - 1;
    }
    return out;
}

}  // namespace debubble
