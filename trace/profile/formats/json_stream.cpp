#include "trace/profile/formats/json_stream.h"

#include <cstring>

#include <fmt/format.h>

namespace debubble::profile {
namespace {

constexpr std::size_t kFirstBuffer = std::size_t{1} << 20U;
constexpr std::size_t kLongestValue = std::size_t{256} << 20U;
constexpr int kMostDepth = 64;

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

JsonStream::JsonStream(ByteSource& source)
    : source_(source), buffer_(kFirstBuffer + JsonStream::kPadding) {}

void JsonStream::refuse(const std::string& sentence) const {
    refuse_at(source_.file(), offset(), sentence);
}

/// Appends more bytes to the unread ones. False at the end of the file.
bool JsonStream::fill() {
    if (drained_) return false;
    if (at_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
        passed_ += at_;
        end_ -= at_;
        at_ = 0;
    }
    const std::size_t room = buffer_.size() - kPadding;
    if (end_ == room) {
        if (end_ >= kLongestValue) refuse("a value of this file is too long");
        buffer_.resize(2 * room + kPadding);
    }
    const std::size_t got = source_.read(buffer_.data() + end_, buffer_.size() - kPadding - end_);
    end_ += got;
    std::memset(buffer_.data() + end_, 0, kPadding);
    if (got == 0) drained_ = true;
    return got > 0;
}

/// True once the byte at `index` after at_ is in the buffer.
bool JsonStream::more(std::size_t index) {
    while (at_ + index >= end_)
        if (!fill()) return false;
    return true;
}

char JsonStream::peek() {
    while (true) {
        while (at_ < end_ && is_space(buffer_[at_])) ++at_;
        if (at_ < end_) return buffer_[at_];
        if (!fill()) return '\0';
    }
}

bool JsonStream::at_end() {
    return peek() == '\0' && at_ == end_;
}

bool JsonStream::take(char c) {
    if (peek() != c || at_ == end_) return false;
    ++at_;
    return true;
}

std::string_view JsonStream::value() {
    const char first = peek();
    if (at_ == end_) refuse("the text ends where a value is expected");
    value_offset_ = offset();
    std::size_t length = 0;
    if (first == '"')
        length = after_string(0);
    else if (first == '{' || first == '[')
        length = after_brackets();
    else
        length = after_scalar();
    if (length == 0) refuse("a value is expected");
    const std::string_view found(buffer_.data() + at_, length);
    at_ += length;
    return found;
}

/// Lengths are relative to at_: filling the buffer moves it.
std::size_t JsonStream::after_string(std::size_t from) {
    for (std::size_t i = from + 1;;) {
        if (at_ + i >= end_ && !more(i))
            refuse(fmt::format("the text ends inside the string that begins at byte {}",
                               offset() + from));
        const char* const start = buffer_.data() + at_ + i;
        const std::size_t there = end_ - at_ - i;
        const auto* const quote = static_cast<const char*>(std::memchr(start, '"', there));
        const std::size_t part = quote == nullptr ? there : static_cast<std::size_t>(quote - start);
        const auto* const slash = static_cast<const char*>(std::memchr(start, '\\', part));
        if (slash != nullptr) {
            i += slash - start + 2;
            continue;
        }
        i += part;
        if (quote != nullptr) return i + 1;
    }
}

std::size_t JsonStream::after_brackets() {
    int depth = 0;
    for (std::size_t i = 0;;) {
        if (at_ + i >= end_ && !more(i))
            refuse(fmt::format("the text ends inside the value that begins at byte {}", offset()));
        const char c = buffer_[at_ + i];
        if (c == '"') {
            i = after_string(i);
            continue;
        }
        ++i;
        if (c == '{' || c == '[') {
            if (++depth > kMostDepth) refuse("brackets are nested too deeply");
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i;
        }
    }
}

std::size_t JsonStream::after_scalar() {
    for (std::size_t i = 0;; ++i) {
        if (at_ + i >= end_ && !more(i)) return i;
        const char c = buffer_[at_ + i];
        if (is_space(c) || c == ',' || c == ':' || c == '}' || c == ']') return i;
    }
}

}  // namespace debubble::profile
