#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/document.h"

/// Texts of a shell script whose every letter knows where it stands in the file. Private to the
/// folder.
namespace debubble::jobs {

struct ShellText {
    /// Added to the offset of a letter that stands for what is known only when the script runs.
    static constexpr std::uint32_t kOpen = 1U << 31;

    std::string text;
    std::vector<std::uint32_t> at;  ///< the offset of each letter in the script
    std::uint32_t begin = 0;        ///< the offset of a text without letters
    bool known = true;              ///< false if a part of it is known only when the script runs

    void add(char letter, std::uint32_t offset) {
        text += letter;
        at.push_back(offset);
        known = known && (offset & kOpen) == 0;
    }
    void add(const ShellText& more) {
        text += more.text;
        at.insert(at.end(), more.at.begin(), more.at.end());
        known = known && more.known;
    }
    std::uint32_t offset() const { return at.empty() ? begin : at.front() & ~kOpen; }
    bool knows(std::size_t letter) const { return (at[letter] & kOpen) == 0; }
    ShellText part(std::size_t first, std::size_t count) const;
};

/// A variable: one text, or those of an array.
struct ShellVariable {
    std::vector<ShellText> texts;
    bool is_array = false;
};
using ShellVariables = std::map<std::string, ShellVariable, std::less<>>;

struct ShellCommand {
    std::vector<ShellText> words;
};

/// What running the script would hand to programs, as far as that can be known without running
/// anything.
struct ShellScript {
    std::shared_ptr<const text::SourceText> source;
    std::vector<ShellCommand> commands;
    ShellVariables variables;
    /// Offsets and sentences about conditions and loops that only a run decides.
    std::vector<std::pair<std::uint32_t, std::string>> remarks;
    std::vector<std::uint32_t> line_starts;

    text::SourcePosition place(std::uint32_t offset) const;
};

/// Follows variables, arrays, arithmetic, conditions and functions of a bash script. Nothing is
/// executed, and the environment is not looked at. Throws InputError for a quote or bracket
/// without its end, arithmetic that overflows or refers to itself, and texts that grow without
/// bound.
ShellScript follow_script(const std::shared_ptr<const text::SourceText>& source);

/// The value of bash's arithmetic; nothing if a variable in it is not known. Throws InputError at
/// `place`.
std::optional<std::int64_t> shell_arithmetic(const std::string& text,
                                             const ShellVariables& variables,
                                             const text::SourcePosition& place);

/// A text cut at blanks, but not inside quotes, which go away.
std::vector<ShellText> split_as_shell(const ShellText& text);

}  // namespace debubble::jobs
