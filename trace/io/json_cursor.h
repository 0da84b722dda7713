#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

/// Finds the values of a large JSON text one after the other, so that each can be parsed
/// separately: no tree of the whole, and every mistake has a position.
namespace debubble {

class JsonCursor {
public:
    explicit JsonCursor(std::string_view text) : text_(text) {}

    std::size_t offset() const { return at_; }
    bool at_end();

    /// Takes `c` if it comes next, and the spaces before it too.
    bool take(char c);

    /// The next value as written, checked only for closed strings and balanced brackets. If there
    /// is none, returns nothing and does not move the cursor.
    std::optional<std::string_view> value();

private:
    void skip_space();
    /// Offset after the string that starts at `from`; npos if it is not closed.
    std::size_t after_string(std::size_t from) const;
    std::size_t after_brackets(std::size_t from) const;

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace debubble
