#include <algorithm>
#include <cctype>

#include <fnmatch.h>

#include <fmt/format.h>

#include "scenarios/jobs/shell_reader.h"

/// What stands after a dollar sign, and what becomes of it.
namespace debubble::jobs {
namespace {

constexpr int kDeepestExpansion = 50;

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

}  // namespace debubble::jobs
