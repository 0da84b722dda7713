#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Mistakes in something that a person wrote, with their locations.
namespace debubble {

/// A location in a file. Lines and columns count from 1; line 0 means the file as a whole (it is
/// missing, or the mistake is in a combination of files).
struct SourceLocation {
    std::string file;
    int line = 0;
    int column = 0;
    friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

struct Diagnostic {
    /// UnknownName marks a key, a word or the name of a file that does not exist, such as a
    /// misspelt one. WrongValue marks a value that is wrong whatever the other keys say: of another
    /// form than its key's, or outside of the key's range.
    enum class Kind : std::uint8_t { Mistake, UnknownName, WrongValue };

    SourceLocation where;
    std::string message;
    std::string source_line;  ///< the text of that line, empty when line is 0
    Kind kind = Kind::Mistake;
    friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// "models/gpt.yaml:3:8: error: ...", then that line, then a caret under it.
/// Control characters in the line are shown as spaces, elsewhere as "\x1b"; long lines are cut.
std::string render(const Diagnostic& diagnostic);

/// Line `number` (from 1) of `text`, without its end; empty if there is none.
std::string line_of(std::string_view text, int number);

/// Input that a person must correct: exit code 2. Carries every mistake found, not just the first;
/// what() is all of them, rendered in reading order.
class InputError : public std::runtime_error {
public:
    explicit InputError(std::vector<Diagnostic> diagnostics);
    /// A mistake without a location, such as an impossible plan.
    explicit InputError(std::string sentence);
    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
    std::vector<Diagnostic> diagnostics_;
};

/// The world failed (no such device, disk full, peer lost): exit code 3.
class WorldError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The known word that `word` was probably meant to be, if one is close enough (Levenshtein
/// distance at most a third of its length, at least 1).
std::optional<std::string> did_you_mean(std::string_view word, std::span<const std::string> known);

// Text from elsewhere, before a terminal shows it: a control character in it could move the
// cursor, rename the window or hide the text before it.

/// True if the text has no control character (C0, DEL, or C1 in UTF-8). Line feeds and tabs do not
/// count as such.
bool is_printable(std::string_view text);

/// The text with control characters replaced by "\x1b" and the like.
std::string printable(std::string_view text);

}  // namespace debubble
