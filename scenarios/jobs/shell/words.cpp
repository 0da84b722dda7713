#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "scenarios/jobs/shell/reader.h"

namespace debubble::jobs {
namespace {

constexpr std::size_t kMostLetters = 4 << 20;

}  // namespace

ShellText ShellText::part(std::size_t first, std::size_t size) const {
    ShellText part;
    part.text = text.substr(first, size);
    part.at.assign(at.begin() + static_cast<std::ptrdiff_t>(first),
                   at.begin() + static_cast<std::ptrdiff_t>(first + part.text.size()));
    part.begin = offset();
    for (const std::uint32_t letter : part.at) part.known = part.known && (letter & kOpen) == 0;
    return part;
}

void ShellReader::count(std::size_t letters) {
    letters_ += letters;
    if (letters_ > kMostLetters)
        refuse(at_, fmt::format("the script's variables exceed {} MiB", kMostLetters >> 20));
}

ShellText ShellReader::unknown(std::string text, std::uint32_t begin) const {
    ShellText value;
    for (const char c : text) value.add(c, begin | ShellText::kOpen);
    value.begin = begin;
    value.known = false;
    return value;
}

std::string ShellReader::name_here() {
    std::string name;
    while (is_name_part(here())) name += script_.text[at_++];
    return name;
}

ShellReader::Word ShellReader::word(Expands unquoted) {
    Word word;
    ShellText field;
    field.begin = static_cast<std::uint32_t>(at_);
    bool has = false;
    constexpr std::string_view kEnds = " \t\n\r;&|<>()";
    while (!ended() && kEnds.find(here()) == std::string_view::npos) {
        const char c = here();
        if (c == '\\') {
            if (here(1) == '\n' || (here(1) == '\r' && here(2) == '\n')) {
                break;  // blanks() passes it
            }
            if (at_ + 1 >= text().size()) {
                ++at_;
                break;
            }
            field.add(text()[at_ + 1], static_cast<std::uint32_t>(at_));
            has = true;
            at_ += 2;
        } else if (c == '\'' || c == '"' || (c == '$' && (here(1) == '\'' || here(1) == '"'))) {
            if (c == '$') ++at_;
            word.has_quotes = true;
            has = true;
            quote(word, field, has);
        } else if (c == '$') {
            dollar(word, field, has, unquoted);
        } else if (c == '`') {
            backquoted(word, field, has, unquoted);
        } else {
            field.add(c, static_cast<std::uint32_t>(at_));
            has = true;
            ++at_;
        }
    }
    if (has) word.fields.push_back(std::move(field));
    return word;
}

ShellText ShellReader::whole_word() {
    ShellText whole;
    whole.begin = static_cast<std::uint32_t>(at_);
    const Word made = word(Expands::Joined);
    for (std::size_t i = 0; i < made.fields.size(); ++i) {
        if (i > 0) whole.add(' ', made.fields[i].offset());
        whole.add(made.fields[i]);
    }
    return whole;
}

void ShellReader::quote(Word& word, ShellText& field, bool& has) {
    const std::size_t begin = at_;
    const char mark = text()[at_++];
    while (!ended() && here() != mark) {
        const char c = here();
        if (mark == '"' && c == '\\') {
            const char next = here(1);
            if (next == '\n') {
                at_ += 2;
                continue;
            }
            if (next == '"' || next == '\\' || next == '$' || next == '`') ++at_;
            if (ended()) break;
            field.add(text()[at_], static_cast<std::uint32_t>(at_));
            ++at_;
        } else if (mark == '"' && c == '$') {
            dollar(word, field, has, Expands::Quoted);
        } else if (mark == '"' && c == '`') {
            backquoted(word, field, has, Expands::Quoted);
        } else {
            field.add(c, static_cast<std::uint32_t>(at_++));
        }
    }
    if (ended()) refuse(begin, fmt::format("this {} is not closed", mark == '"' ? "\"" : "'"));
    ++at_;
}

/// `command`, as $(command) is.
void ShellReader::backquoted(Word& word, ShellText& field, bool& has, Expands how) {
    const std::size_t begin = at_++;
    const auto offset = static_cast<std::uint32_t>(begin);
    while (!ended() && here() != '`') at_ += here() == '\\' ? 2 : 1;
    if (ended()) refuse(begin, "this ` is not closed");
    const std::size_t end = at_++;
    const std::optional<ShellText> text = printed(begin + 1, end, offset);
    substitute(
        word, field, has,
        {text ? *text : unknown(slice(begin, std::min<std::size_t>(end + 1 - begin, 60)), offset)},
        how);
    has = has || how == Expands::Quoted;
}

/// The text between two offsets, with expansions as in double quotes.
ShellText ShellReader::quoted_region(std::size_t from, std::size_t to) {
    const std::size_t at = std::exchange(at_, from);
    const std::size_t end = std::exchange(end_, to);
    ShellText made;
    made.begin = static_cast<std::uint32_t>(from);
    Word word;
    bool has = false;
    while (!ended()) {
        const char next = here(1);
        if (here() == '\\' && (next == '\\' || next == '$' || next == '`')) {
            made.add(next, static_cast<std::uint32_t>(at_));
            at_ += 2;
        } else if (here() == '$') {
            dollar(word, made, has, Expands::Quoted);
        } else if (here() == '`') {
            backquoted(word, made, has, Expands::Quoted);
        } else {
            made.add(here(), static_cast<std::uint32_t>(at_));
            ++at_;
        }
    }
    at_ = at;
    end_ = end;
    return made;
}

/// The offset after the bracket that closes the one before `at_`.
std::size_t ShellReader::closing(char open, char close, std::string_view what) {
    const std::size_t begin = at_;
    int depth = 1;
    char quoted = '\0';
    for (std::size_t i = at_; i < text().size(); ++i) {
        const char c = text()[i];
        if (c == '\\' && quoted != '\'') {
            ++i;
        } else if (quoted != '\0') {
            if (c == quoted) quoted = '\0';
        } else if (c == '\'' || c == '"') {
            quoted = c;
        } else if (c == open) {
            ++depth;
        } else if (c == close && --depth == 0) {
            return i + 1;
        }
    }
    refuse(begin > 0 ? begin - 1 : 0, fmt::format("this {} is not closed", what));
}

ShellVariable ShellReader::array() {
    ShellVariable variable;
    variable.is_array = true;
    const std::size_t begin = at_++;
    for (;;) {
        blank_lines();
        if (ended()) refuse(begin, "this ( is not closed");
        if (here() == ')') break;
        const std::size_t before = at_;
        if (here() == '[') {  // [key]=value of an associative array
            const std::size_t close = text().find(']', at_);
            if (close != std::string::npos && close + 1 < end_ && text()[close + 1] == '=') {
                const ShellText key = region(at_ + 1, close, static_cast<std::uint32_t>(at_));
                at_ = close + 2;
                variable.keys.resize(variable.texts.size());
                variable.keys.push_back(key.text);
                variable.texts.push_back(whole_word());
                continue;
            }
        }
        Word made = word(Expands::Split);
        for (ShellText& field : made.fields) variable.texts.push_back(std::move(field));
        if (at_ == before) {
            variable.texts.push_back({});
            variable.texts.back().add(here(), static_cast<std::uint32_t>(at_));
            ++at_;
        }
    }
    ++at_;
    return variable;
}

std::vector<ShellText> split_as_shell(const ShellText& text) {
    std::vector<ShellText> words;
    ShellText word;
    bool has = false;
    char quoted = '\0';
    for (std::size_t i = 0; i < text.text.size(); ++i) {
        const char c = text.text[i];
        if (quoted == '\0' && (c == '\'' || c == '"')) {
            quoted = c;
            has = true;
        } else if (quoted != '\0' && c == quoted) {
            quoted = '\0';
        } else if (quoted == '\0' && is_space(c)) {
            if (has) words.push_back(std::move(word));
            word = {};
            has = false;
        } else if (c == '\\' && quoted != '\'' && i + 1 < text.text.size()) {
            ++i;
            if (!is_space(text.text[i])) word.add(text.text[i], text.at[i]);
        } else {
            word.add(c, text.at[i]);
            has = true;
        }
    }
    if (has) words.push_back(std::move(word));
    return words;
}

}  // namespace debubble::jobs
