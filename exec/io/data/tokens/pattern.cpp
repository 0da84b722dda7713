#include "exec/io/data/tokens/pattern.h"

#include <cctype>

namespace debubble::exec {

std::string literal_pattern(std::string_view text) {
    std::string expression;
    for (const char byte : text) {
        const bool plain = std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
                           static_cast<unsigned char>(byte) >= 0x80;
        if (!plain) expression += '\\';
        expression += byte;
    }
    return expression;
}

void Pattern::split(std::string_view text, const OnStretch& piece) const {
    constexpr std::size_t kWindow = 4096;
    constexpr std::size_t kLookahead = 16;  // bytes that a lookahead such as (?!\S) may see

    std::size_t window = kWindow;
    while (!text.empty()) {
        const std::string_view view = text.substr(0, window);
        const bool is_last = view.size() == text.size();
        std::size_t done = 0;
        while (done < view.size()) {
            const std::optional<Stretch> match = find(view, done);
            // The text beyond the window might give another match, or a longer one.
            const bool is_certain = is_last || (match && match->end + kLookahead <= view.size());
            if (!is_certain) break;
            const std::size_t begin = match ? match->begin : view.size();
            const std::size_t end = match ? match->end : view.size();
            if (begin > done) piece(view.substr(done, begin - done), false);
            if (end > begin) piece(view.substr(begin, end - begin), true);
            done = end;
        }
        window = done == 0 ? 2 * window : kWindow;
        text.remove_prefix(done);
    }
}

}  // namespace debubble::exec
