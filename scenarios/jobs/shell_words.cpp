#include <algorithm>
#include <cctype>

#include <fnmatch.h>

#include <fmt/format.h>

#include "scenarios/jobs/shell_reader.h"

namespace debubble::jobs {
namespace {

constexpr std::size_t kMostLetters = 4 << 20;
constexpr int kDeepestExpansion = 50;

bool is_name_part(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// The longest or shortest beginning (or end) that the pattern matches is cut off.
ShellText trimmed(const ShellText& value, const std::string& pattern, bool end, bool longest) {
    const std::size_t size = std::min<std::size_t>(value.text.size(), 4096);
    std::size_t best = value.text.size() + 1;
    for (std::size_t n = 0; n <= size; ++n) {
        const std::string piece =
            end ? value.text.substr(value.text.size() - n) : value.text.substr(0, n);
        if (::fnmatch(pattern.c_str(), piece.c_str(), 0) != 0) continue;
        best = n;
        if (!longest) break;
    }
    if (best > size) return value;
    return end ? value.part(0, value.text.size() - best)
               : value.part(best, value.text.size() - best);
}

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
        refuse(at_,
               fmt::format("the script's variables grow to more than {} MiB", kMostLetters >> 20));
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
    while (is_name_part(here())) name += text()[at_++];
    return name;
}

ShellReader::Word ShellReader::word(bool split) {
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
            dollar(word, field, has, false, split);
        } else if (c == '`') {
            const std::size_t begin = at_++;
            while (!ended() && here() != '`') at_ += here() == '\\' ? 2 : 1;
            if (ended()) refuse(begin, "this ` has no end");
            ++at_;
            field.add(unknown("`...`", static_cast<std::uint32_t>(begin)));
            has = true;
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
    const Word made = word(false);
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
            dollar(word, field, has, true, false);
        } else if (mark == '"' && c == '`') {
            const std::size_t start = at_++;
            while (!ended() && here() != '`') ++at_;
            ++at_;
            field.add(unknown("`...`", static_cast<std::uint32_t>(start)));
        } else {
            field.add(c, static_cast<std::uint32_t>(at_++));
        }
    }
    if (ended()) refuse(begin, fmt::format("this {} has no end", mark == '"' ? "\"" : "'"));
    ++at_;
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
    refuse(begin > 0 ? begin - 1 : 0, fmt::format("this {} has no end", what));
}

void ShellReader::dollar(Word& word, ShellText& field, bool& has, bool quoted, bool split) {
    const std::size_t begin = at_++;
    const auto offset = static_cast<std::uint32_t>(begin);
    const char c = here();
    if (c == '(' && here(1) == '(') {
        field.add(arithmetic(offset));
        has = true;
    } else if (c == '(') {
        ++at_;
        at_ = closing('(', ')', "$(");
        field.add(unknown(text().substr(begin, std::min<std::size_t>(at_ - begin, 40)), offset));
        has = true;
    } else if (c == '{') {
        braces(word, field, has, quoted, split);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '@' || c == '*' ||
               c == '#' || c == '?' || c == '$' || c == '!') {
        ++at_;
        field.add(unknown(std::string("$") + c, offset));
        has = true;
    } else if (is_name_part(c)) {
        const std::string name = name_here();
        bool set = false;
        const std::vector<ShellText> values = values_of(name, "0", offset, set);
        substitute(word, field, has, values, quoted, split, false);
    } else {
        field.add('$', offset);
        has = true;
    }
}

/// The values of a variable, of which an index of an array takes one; one unknown value, and
/// `set` false, if it has never been set.
std::vector<ShellText> ShellReader::values_of(const std::string& name, std::string_view index,
                                              std::uint32_t begin, bool& set) {
    const auto found = script_.variables.find(name);
    set = found != script_.variables.end();
    if (!set) return {unknown("$" + name, begin)};
    const std::vector<ShellText>& texts = found->second.texts;
    if (index == "@" || index == "*") return texts;
    const std::optional<std::int64_t> i =
        index == "0"
            ? 0
            : shell_arithmetic(std::string(index), script_.variables, script_.place(begin));
    if (!i) return {unknown(fmt::format("${{{}[{}]}}", name, index), begin)};
    if (*i < 0 || *i >= static_cast<std::int64_t>(texts.size())) {
        ShellText empty;
        empty.begin = begin;
        return {empty};
    }
    return {texts[static_cast<std::size_t>(*i)]};
}

/// Puts values into a word: outside quotes they are cut at blanks; "${A[@]}" makes a field of each.
void ShellReader::substitute(Word& word, ShellText& field, bool& has,
                             const std::vector<ShellText>& values, bool quoted, bool split,
                             bool whole) {
    const auto end_field = [&] {
        if (has) word.fields.push_back(std::move(field));
        field = {};
        field.begin = static_cast<std::uint32_t>(at_);
        has = false;
    };
    for (std::size_t v = 0; v < values.size(); ++v) {
        const ShellText& value = values[v];
        count(value.text.size() + 1);
        if (v > 0 && (quoted ? whole : split)) end_field();
        if (v > 0 && !(quoted ? whole : split)) field.add(' ', value.offset());
        if (quoted || !split) {
            field.add(value);
            has = true;
            continue;
        }
        for (std::size_t i = 0; i < value.text.size(); ++i) {
            if (is_space(value.text[i]) && value.knows(i)) {
                end_field();
            } else {
                field.add(value.text[i], value.at[i]);
                has = true;
            }
        }
    }
}

ShellText ShellReader::arithmetic(std::uint32_t begin) {
    at_ += 2;
    const std::size_t first = at_;
    const std::size_t end = closing('(', ')', "$((");
    if (end >= text().size() || text()[end] != ')') refuse(begin, "this $(( has no end");
    const std::string body = text().substr(first, end - 1 - first);
    at_ = end + 1;
    if (!active_) return unknown("0", begin);
    // Variables written with $ and braces are put in first, as bash does.
    std::string plain;
    bool known = true;
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (body[i] != '$') {
            if (body[i] != '"' && body[i] != '\n') plain += body[i];
            continue;
        }
        const bool braced = i + 1 < body.size() && body[i + 1] == '{';
        if (braced) {
            const std::size_t close = body.find('}', i);
            if (close == std::string::npos) refuse(begin, "this ${ has no end");
            const ShellText value = default_of(body.substr(i, close + 1 - i), begin);
            known = known && value.known;
            plain += '(' + value.text + ')';
            i = close;
            continue;
        }
        std::string name;
        while (i + 1 < body.size() && is_name_part(body[i + 1])) name += body[++i];
        if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) known = false;
        plain += name;
    }
    const auto place = script_.place(begin);
    std::optional<std::int64_t> value;
    if (known) value = shell_arithmetic(plain, script_.variables, place);
    if (!value) return unknown(fmt::format("$(({}))", body.substr(0, 60)), begin);
    ShellText result;
    for (const char c : std::to_string(*value)) result.add(c, begin);
    result.begin = begin;
    return result;
}

/// The value of a text that stands elsewhere in the script, such as the default in ${X:-$Y}.
ShellText ShellReader::default_of(std::string body, std::uint32_t begin) {
    if (body.find_first_of("$`\\'\"") == std::string::npos) {
        ShellText plain;
        for (const char c : body) plain.add(c, begin);
        plain.begin = begin;
        return plain;
    }
    if (++depth_ > kDeepestExpansion) refuse(begin, "expansions lie too deep inside each other");
    count(32 * script_.variables.size());  // which are copied
    ShellReader inner(std::make_shared<text::SourceText>(
        text::SourceText{script_.source->file, std::move(body), 1}));
    inner.script_.variables = script_.variables;
    inner.depth_ = depth_;
    inner.letters_ = letters_;
    ShellText made;
    try {
        while (!inner.ended()) {
            made.add(inner.whole_word());
            if (!inner.ended()) made.add(inner.text()[inner.at_++], 0);
        }
    } catch (const InputError& error) {
        refuse(begin, error.diagnostics().front().message);
    }
    letters_ = inner.letters_;
    count(made.text.size());
    std::ranges::fill(made.at, begin);
    made.begin = begin;
    --depth_;
    return made;
}

void ShellReader::braces(Word& word, ShellText& field, bool& has, bool quoted, bool split) {
    const std::size_t begin = at_ - 1;
    const auto offset = static_cast<std::uint32_t>(begin);
    ++at_;
    const std::size_t end = closing('{', '}', "${");
    const std::size_t stop = end - 1;
    const bool counts = here() == '#';
    const bool indirect = here() == '!';
    if (counts || indirect) ++at_;
    const std::string name = name_here();
    std::string index = "0";
    if (here() == '[') {
        const std::size_t close = text().find(']', at_);
        if (close == std::string::npos || close >= stop) refuse(at_, "this [ has no end");
        index = text().substr(at_ + 1, close - at_ - 1);
        at_ = close + 1;
    }
    const std::string rest = text().substr(at_, stop - at_);
    at_ = end;
    const bool all = index == "@" || index == "*";
    bool set = false;
    std::vector<ShellText> values;
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0)
        values = {
            unknown(fmt::format("${}", name.empty() ? text().substr(begin + 1, 1) : name), offset)};
    else
        values = values_of(name, index, offset, set);
    if (indirect) values = {unknown(text().substr(begin, end - begin), offset)};
    if (counts) {
        ShellText number;
        const std::size_t n = all ? values.size() : values.front().text.size();
        for (const char c : std::to_string(n))
            number.add(c, set ? offset : offset | ShellText::kOpen);
        values = {number};
    }
    const bool colon = rest.starts_with(':');
    const std::string_view operation = std::string_view(rest).substr(colon ? 1 : 0);
    const char kind = operation.empty() ? '\0' : operation.front();
    const bool empty = !set || (colon && std::ranges::all_of(values, [](const ShellText& value) {
                                    return value.text.empty();
                                }));
    if (kind == '-' || kind == '=' || kind == '+' || kind == '?') {
        const std::string other(operation.substr(1));
        if (kind == '+') {
            values = {empty ? ShellText{} : default_of(other, offset)};
        } else if (empty && kind != '?') {
            values = {default_of(other, offset)};
            if (kind == '=' && active_) script_.variables[name] = {values, false};
        }
    } else if ((kind == '#' || kind == '%') && !colon && set) {
        const bool longest = operation.size() > 1 && operation[1] == kind;
        const ShellText pattern =
            default_of(std::string(operation.substr(longest ? 2 : 1)), offset);
        for (ShellText& value : values) value = trimmed(value, pattern.text, kind == '%', longest);
    } else if (kind != '\0' && set) {
        values = {unknown(text().substr(begin, std::min<std::size_t>(end - begin, 60)), offset)};
    }
    substitute(word, field, has, values, quoted, split, all && index == "@");
}

ShellVariable ShellReader::array() {
    ShellVariable variable;
    variable.is_array = true;
    const std::size_t begin = at_++;
    for (;;) {
        blank_lines();
        if (ended()) refuse(begin, "this ( has no end");
        if (here() == ')') break;
        const std::size_t before = at_;
        Word made = word(true);
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
