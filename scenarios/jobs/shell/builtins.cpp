#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/jobs/shell/reader.h"
#include "scenarios/jobs/shell/settings.h"
#include "text/document_readers.h"

/// Commands of the shell itself, which set variables and arguments or read other files.
namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPieces = 60;
constexpr std::size_t kLongestScript = 8 << 20;  ///< with all that it sources

/// The text of printf's format with its arguments; nothing for a conversion that is not read.
std::optional<ShellText> formatted(const std::vector<ShellText>& words, std::size_t format) {
    ShellText made;
    const ShellText& pattern = words[format];
    made.begin = pattern.offset();
    std::size_t next = format + 1;
    for (std::size_t turn = 0; turn < 200; ++turn) {
        const std::size_t before = next;
        for (std::size_t i = 0; i < pattern.text.size(); ++i) {
            const char c = pattern.text[i];
            const char after = i + 1 < pattern.text.size() ? pattern.text[i + 1] : '\0';
            if (c == '\\' && (after == 'n' || after == 't')) {
                made.add(after == 'n' ? '\n' : '\t', pattern.at[i++]);
                continue;
            }
            if (c != '%') {
                made.add(c, pattern.at[i]);
                continue;
            }
            if (after == '%') {
                made.add('%', pattern.at[i++]);
                continue;
            }
            std::size_t end = i + 1;
            while (end < pattern.text.size() &&
                   std::isdigit(static_cast<unsigned char>(pattern.text[end])) != 0)
                ++end;
            const std::string width = pattern.text.substr(i + 1, end - i - 1);
            const char kind = end < pattern.text.size() ? pattern.text[end] : '\0';
            if (kind != 's' && kind != 'd') return {};
            const ShellText value = next < words.size() ? words[next] : ShellText();
            ++next;
            std::size_t wide = 0;
            std::from_chars(width.data(), width.data() + width.size(), wide);
            for (std::size_t n = value.text.size(); n < std::min<std::size_t>(wide, 100); ++n)
                made.add(width[0] == '0' ? '0' : ' ', pattern.at[i]);
            made.add(value);
            i = end;
        }
        if (next >= words.size() || next == before) return made;
    }
    return {};
}

/// True for a text after a file's name that sets up programs, in which no setting lies.
bool sets_up_programs(std::string_view name) {
    for (const std::string_view part : {"activate", "bashrc", "bash_profile", "conda.sh",
                                        "/etc/profile", "modules", "setvars", "set_env.sh", "lmod"})
        if (name.find(part) != std::string_view::npos) return true;
    return name == "env" || name == "profile";
}

}  // namespace

/// The folder of the file that is being read.
fs::path ShellReader::folder_here() const {
    return fs::path(piece_at(end_ > 0 ? end_ - 1 : 0).source->file).parent_path();
}

/// The file that lies under the longest end of a path in a folder above the script:
/// "/root/slime/scripts/models/qwen3-4B.sh" is scripts/models/qwen3-4B.sh of the checkout.
fs::path ShellReader::file_by_ending(const std::string& written, std::uint32_t offset) {
    std::error_code error;
    const fs::path path = fs::path(written).lexically_normal();
    for (auto first = path.begin(); std::distance(first, path.end()) > 1; ++first) {
        fs::path ending;
        for (auto part = first; part != path.end(); ++part) ending /= *part;
        if (ending.is_absolute() || ending.empty()) continue;
        fs::path above = fs::absolute(fs::path(script_.source->file), error).parent_path();
        for (int up = 0; up < 6 && above != above.root_path(); ++up, above = above.parent_path())
            if (fs::is_regular_file(above / ending, error)) {
                script_.remarks.emplace_back(offset,
                                             fmt::format("'{}' does not exist; '{}' of a parent "
                                                         "folder of the script is read instead",
                                                         written, ending.string()));
                return above / ending;
            }
    }
    return {};
}

/// `source FILE`: its commands are carried out here.
void ShellReader::follow_file(const ShellText& name) {
    const std::uint32_t offset = name.offset();
    std::error_code error;
    const auto is_file = [&](const fs::path& path) { return fs::is_regular_file(path, error); };
    fs::path found;
    // The known end of the name, after its last unknown letter: "${DIR}/model.sh" is "model.sh".
    std::size_t known = name.text.size();
    while (known > 0 && name.knows(known - 1)) --known;
    std::string written = name.text.substr(known);
    if (known > 0) written.erase(0, written.find_first_not_of('/'));
    if (!written.empty() && known == 0 && fs::path(written).is_absolute()) {
        if (is_file(written)) found = written;
    } else if (!written.empty()) {
        fs::path above = fs::absolute(fs::path(script_.source->file), error).parent_path();
        for (int up = 0; up < 6 && found.empty() && !above.empty();
             ++up, above = above.parent_path()) {
            for (const fs::path& folder : {up == 0 ? folder_here() : above, above})
                if (const fs::path path = folder / written; found.empty() && is_file(path))
                    found = path;
            if (above == above.root_path()) break;
        }
    }
    if (found.empty() && !sets_up_programs(name.text)) found = file_by_ending(written, offset);
    if (found.empty()) {
        if (!sets_up_programs(name.text)) script_.missing.emplace_back(offset, name.text);
        return;
    }
    const std::string path = found.lexically_normal().string();
    if (following_.contains(path) || script_.pieces.size() > kMostPieces) return;
    const std::string content = read_file(path, text::kLongestDocument);
    if (script_.text.size() + content.size() > kLongestScript)
        refuse(offset, "the script and its sourced files are too long");
    const std::size_t piece = add_piece(text::checked_source(content, path));
    following_.insert(path);
    const std::size_t after = at_;
    const std::size_t end = end_;
    std::vector<Document> documents;
    std::swap(documents, documents_);
    at_ = script_.pieces[piece].begin;
    end_ = script_.pieces[piece].end;
    while (!ended()) {
        list({});
        if (!ended()) ++at_;
    }
    leaves_ = false;
    active_ = true;
    at_ = after;
    end_ = end;
    std::swap(documents, documents_);
    following_.erase(path);
}

/// `printf -v NAME FORMAT ARGUMENTS`.
void ShellReader::print_into(const std::vector<ShellText>& words) {
    std::optional<ShellText> text = formatted(words, 3);
    const std::string& name = words[2].text;
    script_.variables[name] = {{text ? *text : unknown("${" + name + "}", words[2].offset())},
                               false};
}

/// `read NAME...`: what is typed or comes from a program is not known.
void ShellReader::read_into(const std::vector<ShellText>& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& name = words[i].text;
        if (!name.empty() && std::ranges::all_of(name, is_name_part))
            assign(name, {{unknown("$(read)", words[i].offset())}, false}, false);
    }
}

/// `set -- WORDS`.
void ShellReader::set_arguments(const std::vector<ShellText>& words) {
    const auto mark = std::ranges::find(words, "--", &ShellText::text);
    if (mark == words.end()) return;
    arguments_.assign(std::next(mark), words.end());
    has_arguments_ = true;
}

bool ShellReader::builtin(const ShellCommand& command) {
    const std::vector<ShellText>& words = command.words;
    const std::string& name = words.front().text;
    if (!active_) return name == "source" || name == ".";
    if (name == "source" || name == ".") {
        if (words.size() < 2) return true;
        std::vector<ShellText> arguments(words.begin() + 2, words.end());
        const bool given = !arguments.empty();
        const bool had = has_arguments_;
        if (given) {
            std::swap(arguments, arguments_);
            has_arguments_ = true;
        }
        follow_file(words[1]);
        if (given) {
            std::swap(arguments, arguments_);
            has_arguments_ = had;
        }
        return true;
    }
    if (name == "shift") {
        const auto by = words.size() > 1 ? number_of(words[1].text) : 1.0;
        for (double n = 0; by && n < *by && !arguments_.empty(); ++n)
            arguments_.erase(arguments_.begin());
        return true;
    }
    if (name == "break" || name == "continue" || name == "return") {
        leaves_ = true;
        breaks_ = name == "break";
        return true;
    }
    if (name == "printf" && words.size() > 3 && words[1].text == "-v") {
        print_into(words);
        return true;
    }
    if (name == "read") {
        read_into(words);
        return true;
    }
    if (name == "unset") {
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (script_.variables.contains(words[i].text))
                script_.variables[words[i].text] = {{ShellText()}, false};
        }
        return true;
    }
    if (name == "set") {
        set_arguments(words);
        return true;
    }
    if (name == "exit") {
        script_.remarks.emplace_back(
            words.front().offset(),
            "started this way the script ends here; the rest is read anyway");
        return true;
    }
    return false;
}

/// `((...))`: a condition, or an assignment.
Truth ShellReader::arithmetic_command() {
    const std::size_t begin = at_;
    at_ += 2;
    const std::size_t first = at_;
    const std::size_t end = closing('(', ')', "((");
    if (end >= text().size() || text()[end] != ')') refuse(begin, "this (( is not closed");
    at_ = end + 1;
    return active_ ? arithmetic_part(first, end - 1, begin) : Truth::Unknown;
}

/// An expression of `((...))`, which lies from `first` to `end`: whether it is not 0, or an
/// assignment.
Truth ShellReader::arithmetic_part(std::size_t first, std::size_t end, std::size_t begin) {
    std::string body = slice(first, end - first);
    std::erase_if(body, is_space);
    std::size_t length = 0;
    while (length < body.size() && is_name_part(body[length])) ++length;
    const std::string name = body.substr(0, length);
    const std::string rest = body.substr(length);
    const auto offset = static_cast<std::uint32_t>(begin);
    std::string value;
    if (rest == "++" || rest == "--")
        value = name + rest[0] + "1";
    else if (body.starts_with("++") || body.starts_with("--"))
        value = body.substr(2) + body[0] + "1";
    else if (rest.size() > 2 && rest[1] == '=' &&
             std::string_view("+-*/%").find(rest[0]) != std::string_view::npos)
        value = name + rest[0] + "(" + rest.substr(2) + ")";
    else if (rest.size() > 1 && rest[0] == '=' && rest[1] != '=')
        value = rest.substr(1);
    const bool assigns = !value.empty();
    const std::string target = name.empty() && assigns ? body.substr(2) : name;
    const std::string& expression = assigns ? value : body;
    std::optional<std::int64_t> result;
    if (expression.find('$') == std::string::npos)
        result = shell_arithmetic(expression, script_.variables, script_.place(offset));
    else if (const ShellText made = arithmetic_of(first, end, offset); made.known && !assigns)
        result = static_cast<std::int64_t>(number_of(made.text).value_or(0));
    if (!assigns) {
        if (!result) return Truth::Unknown;
        return *result == 0 ? Truth::No : Truth::Yes;
    }
    ShellText text;
    if (result)
        for (const char c : std::to_string(*result)) text.add(c, offset);
    else
        text = unknown("${" + target + "}", offset);
    script_.variables[target] = {{text}, false};
    return Truth::Yes;
}

}  // namespace debubble::jobs
