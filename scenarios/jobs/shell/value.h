#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scenarios/jobs/shell/started.h"
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

/// A variable: one text, or those of an array, of which an associative one has keys.
struct ShellVariable {
    std::vector<ShellText> texts;
    bool is_array = false;
    std::vector<std::string> keys = {};
};
using ShellVariables = std::map<std::string, ShellVariable, std::less<>>;

struct ShellCommand {
    std::vector<ShellText> words;
    std::optional<ShellText> input = {};   ///< what a here-document gives it
    std::optional<ShellText> output = {};  ///< the file that it writes
};

/// A file whose text is a part of a script: the script itself, and those that it sources. Offsets
/// count through all of them.
struct ShellPiece {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::shared_ptr<const text::SourceText> source;
    std::vector<std::uint32_t> line_starts;
};

/// The arguments that the script would pass to programs, as far as known without running anything.
struct ShellScript {
    std::shared_ptr<const text::SourceText> source;
    std::string text;  ///< of all pieces, one after another
    std::vector<ShellPiece> pieces;
    std::vector<ShellCommand> commands;
    ShellVariables variables;
    /// Offsets and sentences about conditions and loops that only a run decides.
    std::vector<std::pair<std::uint32_t, std::string>> remarks;
    /// Unknown values on which conditions depend, with the place of each.
    std::vector<ShellText> deciding;
    /// Sourced files that are not there. Settings may lie in them.
    std::vector<std::pair<std::uint32_t, std::string>> missing;
    /// Variables that nothing sets and that count as empty in a condition.
    std::set<std::string> unset;
    /// Variables of the environment that were asked for.
    std::set<std::string> used;
    /// Texts of the files that the script writes, by their names as the script has them.
    std::map<std::string, ShellText> files;
    bool reads_arguments = false;  ///< some of those with which it is started
    int most_arguments = 0;        ///< the highest number of an argument that the script reads

    text::SourcePosition place(std::uint32_t offset) const;
};

/// Follows variables, arrays, arithmetic, conditions and functions of a bash script, and the files
/// that it sources. Nothing is executed, and of the environment only what `started` gives is known.
/// Throws InputError for a quote or bracket without its end, arithmetic that overflows or refers to
/// itself, and texts that grow without bound.
ShellScript follow_script(const std::shared_ptr<const text::SourceText>& source,
                          const Started& started = {});

/// The value of bash's arithmetic; nothing if a variable in it is not known. Throws InputError at
/// `place`.
std::optional<std::int64_t> shell_arithmetic(const std::string& text,
                                             const ShellVariables& variables,
                                             const text::SourcePosition& place);

/// A text cut at blanks, but not inside quotes, which go away.
std::vector<ShellText> split_as_shell(const ShellText& text);

/// The unknown parts of a text: names of variables, "$3", "$(hostname)". Variables of the script
/// that are not known themselves lead on to what they lack.
std::set<std::string> lacking(const ShellText& text, const ShellScript& script);

}  // namespace debubble::jobs
