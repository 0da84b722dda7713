#include "trace/picture/svg_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace debubble::svg {
namespace {

/// Length of the UTF-8 sequence at the front, 0 if it is not one that XML allows.
std::size_t sequence_length(std::string_view s) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
    const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || s.size() < length) return 0;
    char32_t code = byte(0) & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return 0;
        code = code << 6U | (byte(i) & 0x3fU);
    }
    constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    const bool control = code < 0xa0 || code == 0xfffe || code == 0xffff;
    return code < kLeast[length] || code > 0x10ffff || surrogate || control ? 0 : length;
}

}  // namespace

std::string number(double x) {
    std::string s = fmt::format("{:.2f}", x);
    while (s.back() == '0') s.pop_back();
    if (s.back() == '.') s.pop_back();
    return s == "-0" ? "0" : s;
}

std::string escaped(std::string_view s) {
    std::string out;
    while (!s.empty()) {
        const std::size_t length = sequence_length(s);
        const std::string_view character = s.substr(0, std::max<std::size_t>(length, 1));
        if (length == 0)
            out += '?';
        else if (character == "&")
            out += "&amp;";
        else if (character == "<")
            out += "&lt;";
        else if (character == ">")
            out += "&gt;";
        else if (character == "\"")
            out += "&quot;";
        else
            out += character;
        s.remove_prefix(character.size());
    }
    return out;
}

double text_width(std::string_view text, double font_size) {
    const auto is_head = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; };
    return 0.66 * font_size * static_cast<double>(std::ranges::count_if(text, is_head));
}

std::string shortened(std::string_view text, double width, double font_size) {
    if (text_width(text, font_size) <= width) return std::string(text);
    while (!text.empty() && text_width(text, font_size) + text_width("...", font_size) > width)
        text.remove_suffix(1);
    return std::string(text) + "...";
}

}  // namespace debubble::svg
