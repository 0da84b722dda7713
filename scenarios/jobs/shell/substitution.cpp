#include <algorithm>
#include <utility>

#include "base/file.h"
#include "scenarios/jobs/shell/reader.h"
#include "text/document_readers.h"

/// The output of $(...), if its commands only combine texts and file names. Nothing is executed: a
/// program's output is not known.
namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;

ShellText at_offset(const std::string& text, std::uint32_t begin) {
    ShellText made;
    for (const char c : text) made.add(c, begin);
    made.begin = begin;
    return made;
}

/// The words after options, joined by blanks.
ShellText joined(const std::vector<ShellText>& words, std::size_t first, std::uint32_t begin) {
    ShellText made;
    made.begin = begin;
    for (std::size_t i = first; i < words.size(); ++i) {
        if (i > first) made.add(' ', begin);
        made.add(words[i]);
    }
    return made;
}

std::size_t after_options(const std::vector<ShellText>& words) {
    std::size_t i = 1;
    while (i < words.size() && words[i].text.size() > 1 && words[i].text[0] == '-') ++i;
    return i;
}

}  // namespace

/// The output of one command; nothing if a program would have to run. `cd` changes the folder.
std::optional<ShellText> ShellReader::output_of(const ShellCommand& command, std::string& folder,
                                                std::uint32_t begin) {
    const std::vector<ShellText>& words = command.words;
    const std::string& name = words.front().text;
    const std::size_t first = after_options(words);
    if (name == "echo") return joined(words, first, begin);
    if (name == "printf" && words.size() > 1 && words[1].text.find('%') == std::string::npos)
        return joined(words, 1, begin);
    if (name == "printf" && words.size() > 1 && words[1].text.starts_with("%s"))
        return joined(words, 2, begin);
    if (name == "cat" && words.size() == 1 && command.input) return command.input;
    if (name == "cat" && words.size() == 2 && words[1].known) {
        if (const auto made = script_.files.find(words[1].text); made != script_.files.end())
            return made->second;
        fs::path path = words[1].text;
        if (path.is_relative()) path = folder_here() / path;
        std::error_code error;
        if (!fs::is_regular_file(path, error)) return {};
        return at_offset(
            text::checked_source(read_file(path, text::kLongestDocument), path.string())->text,
            begin);
    }
    if (name == "pwd")
        return folder.empty() ? std::nullopt : std::optional(at_offset(folder, begin));
    if (first >= words.size()) return {};
    if (name == "cd" && words[first].known) {
        fs::path path = words[first].text;
        if (path.is_relative() && !folder.empty()) path = fs::path(folder) / path;
        std::error_code error;
        folder = fs::absolute(path, error).lexically_normal().string();
        if (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
        return ShellText();
    }
    if (!words[first].known) return {};
    if (name == "dirname") {
        const std::string parent = fs::path(words[first].text).parent_path().string();
        return at_offset(parent.empty() ? "." : parent, begin);
    }
    if (name == "basename") {
        std::string base = fs::path(words[first].text).filename().string();
        if (first + 1 < words.size() && base.ends_with(words[first + 1].text))
            base.resize(base.size() - words[first + 1].text.size());
        return at_offset(base, begin);
    }
    if (name == "realpath" || name == "readlink") {
        std::error_code error;
        return at_offset(fs::absolute(words[first].text, error).lexically_normal().string(), begin);
    }
    if (name == "expr" && words.size() == 4 && words[3].known) {
        const std::string& sign = words[2].text;
        if (sign != "+" && sign != "-" && sign != "*" && sign != "/" && sign != "%") return {};
        const auto value = shell_arithmetic(words[1].text + sign + words[3].text, script_.variables,
                                            script_.place(begin));
        if (value) return at_offset(std::to_string(*value), begin);
    }
    return {};
}

/// The output of the commands in a part of the script, without trailing newlines.
std::optional<ShellText> ShellReader::printed(std::size_t from, std::size_t to,
                                              std::uint32_t begin) {
    if (!active_) return {};
    const std::size_t at = std::exchange(at_, from);
    const std::size_t end = std::exchange(end_, to);
    std::vector<ShellCommand> outer = std::exchange(script_.commands, {});
    std::vector<Document> documents = std::exchange(documents_, {});
    const ShellVariables variables = script_.variables;
    const bool piped = std::exchange(piped_, false);
    const std::size_t remarks = script_.remarks.size();
    count(32 * variables.size());  // which are copied
    list({});
    const bool all = ended() && !piped_;
    const std::vector<ShellCommand> commands = std::exchange(script_.commands, std::move(outer));
    script_.variables = variables;
    script_.remarks.resize(remarks);
    documents_ = std::move(documents);
    piped_ = piped;
    at_ = at;
    end_ = end;
    if (!all || commands.empty()) return {};
    ShellText made;
    made.begin = begin;
    std::string folder;
    for (const ShellCommand& command : commands) {
        const std::optional<ShellText> text = output_of(command, folder, begin);
        if (!text) return {};
        if (!made.text.empty() && !text->text.empty()) made.add('\n', begin);
        made.add(*text);
        count(text->text.size());
    }
    std::size_t size = made.text.size();
    while (size > 0 && made.text[size - 1] == '\n') --size;
    return made.part(0, size);
}

}  // namespace debubble::jobs
