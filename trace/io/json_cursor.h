#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

/// Finds the values of a large JSON text one after the other, so that each can
/// be parsed by itself: no tree of the whole, and every mistake has a place.
namespace debubble {

class JsonCursor {
public:
    explicit JsonCursor(std::string_view text) : text_(text) {}

    std::size_t offset() const { return at_; }
    bool at_end();

    /// Takes `c` if it comes next, spaces before it too.
    bool take(char c);

    /// The next value as it is written, checked only for closed strings and
    /// balanced brackets. Nothing, and the cursor stays, if there is none.
    std::optional<std::string_view> value();

private:
    void skip_space();
    /// Offset behind the string that starts at `from`; npos if it is not closed.
    std::size_t behind_string(std::size_t from) const;
    std::size_t behind_brackets(std::size_t from) const;

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace debubble
