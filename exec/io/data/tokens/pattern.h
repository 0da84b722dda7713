#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace debubble::exec {

/// A stretch of a text.
struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
    friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// A regular expression as tokenizers write it: Perl's syntax over Unicode, in which \s is
/// Unicode's White_Space as in Rust and Oniguruma. It is used by one thread at a time.
class Pattern {
public:
    /// The units that an expression matches. Over bytes there is no UTF-8, and no limit to the time
    /// an expression may take.
    enum class Over { Characters, Bytes };

    /// Throws InputError, which names `file`, if `expression` is not a regular expression or looks
    /// back; WorldError if this program was built without PCRE2.
    Pattern(std::string_view expression, Over over, const std::filesystem::path& file);
    ~Pattern();
    Pattern(Pattern&&) noexcept;

    /// The first match that starts at `from` or later and is not empty. Bytes that are not UTF-8
    /// match nothing. Throws InputError if the expression takes too long on the text.
    std::optional<Stretch> find(std::string_view text, std::size_t from = 0) const;

    using OnStretch = std::function<void(std::string_view piece, bool matches)>;
    /// Cuts a text of any length into its matches and the stretches between them. The time is
    /// proportional to the text's length: only a window of it is searched at a time.
    void split(std::string_view text, const OnStretch& piece) const;

private:
    struct Compiled;
    std::unique_ptr<Compiled> compiled_;
    std::filesystem::path file_;
};

/// An expression that matches `text` and nothing else.
std::string literal_pattern(std::string_view text);

}  // namespace debubble::exec
