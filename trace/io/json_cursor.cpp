#include "trace/io/json_cursor.h"

namespace debubble {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr int kMostDepth = 32;  ///< far above the depth of written files

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

void JsonCursor::skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool JsonCursor::at_end() {
    skip_space();
    return at_ == text_.size();
}

bool JsonCursor::take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
}

std::optional<std::string_view> JsonCursor::value() {
    skip_space();
    if (at_ == text_.size()) return std::nullopt;
    const char c = text_[at_];
    std::size_t end = at_;
    if (c == '"') {
        end = after_string(at_);
    } else if (c == '{' || c == '[') {
        end = after_brackets(at_);
    } else {
        while (end < text_.size() && !is_space(text_[end]) && text_[end] != ',' &&
               text_[end] != ':' && text_[end] != '}' && text_[end] != ']')
            ++end;
    }
    if (end == kNone || end == at_) return std::nullopt;
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end;
    return found;
}

std::size_t JsonCursor::after_string(std::size_t from) const {
    for (std::size_t i = from + 1; i < text_.size(); ++i) {
        if (text_[i] == '\\')
            ++i;
        else if (text_[i] == '"')
            return i + 1;
    }
    return kNone;
}

std::size_t JsonCursor::after_brackets(std::size_t from) const {
    int depth = 0;
    for (std::size_t i = from; i < text_.size();) {
        const char c = text_[i];
        if (c == '"') {
            i = after_string(i);
            if (i == kNone) return kNone;
            continue;
        }
        if ((c == '{' || c == '[') && ++depth > kMostDepth) return kNone;
        ++i;
        if ((c == '}' || c == ']') && --depth == 0) return i;
    }
    return kNone;
}

}  // namespace debubble
