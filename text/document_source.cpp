#include "text/document_readers.h"

#include <utility>

#include <fmt/format.h>

namespace debubble::text {
namespace {

/// Bytes of the UTF-8 character at `i`; 0 if there is none (Unicode 15, table 3-7).
std::size_t length_at(std::string_view text, std::size_t i) {
    const auto byte = [&](std::size_t k) -> unsigned {
        return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
    };
    const auto follows = [&](std::size_t k, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(k) >= low && byte(k) <= high;
    };
    const unsigned lead = byte(i);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return follows(i + 1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = lead == 0xED ? 0x9F : 0xBF;
        return follows(i + 1, low, high) && follows(i + 2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
        return follows(i + 1, low, high) && follows(i + 2) && follows(i + 3) ? 4 : 0;
    }
    return 0;
}

}  // namespace

std::shared_ptr<const SourceText> checked_source(std::string text, const std::string& file,
                                                 int first_line, std::size_t longest) {
    if (text.size() > longest)
        throw InputError({{{file, 0, 0},
                           fmt::format("too long: {} bytes, the limit is {}", text.size(), longest),
                           {}}});
    auto source = std::make_shared<const SourceText>(SourceText{file, std::move(text), first_line});
    check_characters(source);
    return source;
}

std::string too_many_values(std::size_t most) {
    return fmt::format("the text has more than {} values", most);
}

std::string too_deep() {
    return fmt::format("lists and maps are nested deeper than {}", kDeepestDocument);
}

void check_characters(const std::shared_ptr<const SourceText>& source) {
    int line = source->first_line;
    int column = 1;
    const std::string& text = source->text;
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const std::size_t length = length_at(text, i);
        const bool control = (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r');
        if (length == 0 || control) {
            Mistakes mistakes;
            mistakes.add({source, line, column},
                         control ? fmt::format("a control character (0x{:02x})", byte)
                                 : fmt::format("not UTF-8 (byte 0x{:02x})", byte));
            mistakes.throw_if_any();
        }
        column = byte == '\n' ? 1 : column + static_cast<int>(length);
        line += byte == '\n' ? 1 : 0;
        i += length;
    }
}

}  // namespace debubble::text
