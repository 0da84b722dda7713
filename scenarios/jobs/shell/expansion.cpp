#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "scenarios/jobs/shell/reader.h"
#include "scenarios/jobs/shell/settings.h"

/// Parsing and expansion after a dollar sign.
namespace debubble::jobs {
namespace {

constexpr int kDeepestExpansion = 50;

}  // namespace

/// An argument of the script; $0 is the script.
ShellText ShellReader::argument(std::size_t number, std::uint32_t begin) {
    ShellText value;
    value.begin = begin;
    if (number == 0) {
        for (const char c : script_.source->file) value.add(c, begin);
        return value;
    }
    if (!has_arguments_) {
        if (active_)
            script_.most_arguments = std::max(script_.most_arguments, static_cast<int>(number));
        return unknown(fmt::format("${}", number), begin);
    }
    script_.reads_arguments = true;
    if (number <= arguments_.size()) return arguments_[number - 1];
    return value;
}

void ShellReader::dollar(Word& word, ShellText& field, bool& has, Expands how) {
    const std::size_t begin = at_++;
    const auto offset = static_cast<std::uint32_t>(begin);
    const char c = here();
    if (c == '(' && here(1) == '(') {
        field.add(arithmetic(offset));
        has = true;
    } else if (c == '(') {
        const std::size_t first = ++at_;
        at_ = closing('(', ')', "$(");
        const std::size_t end = at_;
        if (const auto text = printed(first, end - 1, offset))
            substitute(word, field, has, {*text}, how);
        else
            substitute(word, field, has,
                       {unknown(slice(begin, std::min<std::size_t>(end - begin, 60)), offset)},
                       how);
        has = has || how == Expands::Quoted;
    } else if (c == '{') {
        braces(word, field, has, how);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
        ++at_;
        substitute(word, field, has, {argument(c - '0', offset)}, how);
    } else if ((c == '@' || c == '*' || c == '#') && has_arguments_) {
        ++at_;
        script_.reads_arguments = true;
        std::vector<ShellText> values = arguments_;
        if (c == '#') {
            values.assign(1, {});
            for (const char digit : std::to_string(arguments_.size()))
                values.front().add(digit, offset);
        }
        substitute(word, field, has, values, how, c == '@');
    } else if (c == '@' || c == '*' || c == '#' || c == '?' || c == '$' || c == '!') {
        ++at_;
        field.add(unknown(std::string("$") + c, offset));
        has = true;
    } else if (is_name_part(c)) {
        const std::string name = name_here();
        bool set = false;
        const std::vector<ShellText> values = values_of(name, "0", offset, set);
        substitute(word, field, has, values, how);
    } else {
        field.add('$', offset);
        has = true;
    }
}

/// The values of a variable, of which an index of an array takes one; one unknown value, and
/// `set` false, if it has never been set.
std::vector<ShellText> ShellReader::values_of(const std::string& name, std::string_view index,
                                              std::uint32_t begin, bool& set) {
    auto found = script_.variables.find(name);
    if (found == script_.variables.end()) {
        const auto given = environment_.find(name);
        if (given != environment_.end()) {
            script_.used.insert(name);
            found = script_.variables.emplace(name, ShellVariable{{given->second}, false}).first;
        } else if (name == "BASH_SOURCE") {
            ShellText file;
            for (const char c : piece_at(begin).source->file) file.add(c, begin);
            set = true;
            return {file};
        }
    }
    set = found != script_.variables.end();
    if (!set) return {unknown("$" + name, begin)};
    const ShellVariable& variable = found->second;
    const std::vector<ShellText>& texts = variable.texts;
    ShellText empty;
    empty.begin = begin;
    if (index == "@" || index == "*") return texts;
    if (!variable.keys.empty()) {
        const auto key = std::ranges::find(variable.keys, index);
        if (key == variable.keys.end()) return {empty};
        return {texts[key - variable.keys.begin()]};
    }
    const std::optional<std::int64_t> i =
        index == "0"
            ? 0
            : shell_arithmetic(std::string(index), script_.variables, script_.place(begin));
    if (!i) return {unknown(fmt::format("${{{}[{}]}}", name, index), begin)};
    const auto size = static_cast<std::int64_t>(texts.size());
    const std::int64_t at = *i < 0 ? *i + size : *i;
    if (at < 0 || at >= size) return {empty};
    return {texts[at]};
}

/// The separator of the values of "${A[*]}": the first letter of IFS.
std::string ShellReader::joint() const {
    const auto found = script_.variables.find("IFS");
    if (found == script_.variables.end() || found->second.texts.size() != 1 ||
        !found->second.texts.front().known)
        return " ";
    return found->second.texts.front().text.substr(0, 1);
}

/// Puts values into a word: outside quotes they are cut at blanks; "${A[@]}" makes a field of each.
void ShellReader::substitute(Word& word, ShellText& field, bool& has,
                             const std::vector<ShellText>& values, Expands how, bool a_field_each) {
    const bool quoted = how == Expands::Quoted;
    const bool cuts = quoted ? a_field_each : how == Expands::Split;
    const auto end_field = [&] {
        if (has) word.fields.push_back(std::move(field));
        field = {};
        field.begin = static_cast<std::uint32_t>(at_);
        has = false;
    };
    for (std::size_t v = 0; v < values.size(); ++v) {
        const ShellText& value = values[v];
        count(value.text.size() + 1);
        if (v > 0 && cuts) end_field();
        if (v > 0 && !cuts)
            for (const char mark : quoted ? joint() : std::string(" "))
                field.add(mark, value.offset());
        if (how != Expands::Split) {
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
    if (end >= text().size() || text()[end] != ')') {
        // A command in brackets, whose output is not known.
        at_ = first - 1;
        at_ = closing('(', ')', "$(");
        return unknown(slice(begin, std::min<std::size_t>(at_ - begin, 60)), begin);
    }
    at_ = end + 1;
    if (!active_) return unknown("0", begin);
    return arithmetic_of(first, end - 1, begin);
}

/// The value of the arithmetic that stands between two offsets.
ShellText ShellReader::arithmetic_of(std::size_t first, std::size_t end, std::uint32_t begin) {
    const std::string body = slice(first, end - first);
    // Variables written with $ and braces are put in first, as bash does.
    std::string plain;
    bool known = true;
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (body[i] != '$') {
            if (body[i] != '"' && body[i] != '\n') plain += body[i];
            continue;
        }
        const std::size_t at = first + i;
        std::size_t stop = i + 1;
        if (body.compare(i, 2, "${") == 0 || body.compare(i, 2, "$(") == 0) {
            const bool braced = body[i + 1] == '{';
            const std::size_t outer = std::exchange(at_, at + 2);
            stop = (braced ? closing('{', '}', "${") : closing('(', ')', "$(")) - first;
            at_ = outer;
        } else {
            while (stop < body.size() && is_name_part(body[stop])) ++stop;
        }
        const std::string name = body.substr(i + 1, stop - i - 1);
        // Names stay names, so that circles are found where the arithmetic is done.
        if (name.empty()) {  // "$?" and its like
            known = false;
            i = std::min(stop, body.size() - 1);
            continue;
        }
        const bool is_name = !name.empty() && script_.variables.contains(name) &&
                             std::ranges::all_of(name, is_name_part);
        if (is_name) {
            plain += name;
        } else {
            const ShellText value = region(at, first + stop, begin);
            known = known && value.known;
            plain += '(' + value.text + ')';
        }
        i = stop - 1;
    }
    std::optional<std::int64_t> value;
    for (const auto& [name, given] : environment_)  // names without $
        if (!script_.variables.contains(name) && plain.find(name) != std::string::npos) {
            script_.used.insert(name);
            script_.variables[name] = {{given}, false};
        }
    if (known) value = shell_arithmetic(plain, script_.variables, script_.place(begin));
    if (!value) return unknown(fmt::format("$(({}))", body.substr(0, 60)), begin);
    ShellText result;
    for (const char c : std::to_string(*value)) result.add(c, begin);
    result.begin = begin;
    return result;
}

/// The value of a text that stands between two offsets, such as the default in ${X:-$Y}.
ShellText ShellReader::region(std::size_t from, std::size_t to, std::uint32_t begin) {
    if (++depth_ > kDeepestExpansion) refuse(begin, "expansions are nested too deeply");
    const std::size_t at = std::exchange(at_, from);
    const std::size_t end = std::exchange(end_, to);
    ShellText made;
    while (!ended()) {
        made.add(whole_word());
        if (ended()) break;
        made.add(here(), static_cast<std::uint32_t>(at_));
        ++at_;
    }
    count(made.text.size());
    if (made.text.empty()) made.begin = begin;
    at_ = at;
    end_ = end;
    --depth_;
    return made;
}

void ShellReader::braces(Word& word, ShellText& field, bool& has, Expands how) {
    const std::size_t begin = at_ - 1;
    const auto offset = static_cast<std::uint32_t>(begin);
    ++at_;
    const std::size_t end = closing('{', '}', "${");
    const std::size_t stop = end - 1;
    const bool counts = here() == '#' && here(1) != '}';
    const bool indirect = here() == '!';
    if (counts || indirect) ++at_;
    std::string name = name_here();
    std::string index = "0";
    bool indexed = false;
    if (here() == '[') {
        const std::size_t close = text().find(']', at_);
        if (close == std::string::npos || close >= stop) refuse(at_, "this [ is not closed");
        index = region(at_ + 1, close, offset).text;
        indexed = true;
        at_ = close + 1;
    }
    const std::size_t rest = at_;
    at_ = end;
    const bool all = index == "@" || index == "*";
    bool set = false;
    std::vector<ShellText> values;
    const bool arguments = !counts && (text()[begin + 2] == '@' || text()[begin + 2] == '*');
    if (arguments) {
        // "${@:2}" and its like
        set = has_arguments_;
        script_.reads_arguments = set;
        values = set ? arguments_ : std::vector<ShellText>{unknown("$@", offset)};
    } else if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0) {
        const double number = number_of(name).value_or(0);
        values = {argument(static_cast<std::size_t>(std::min(number, 1000.0)), offset)};
        set = has_arguments_ && number <= static_cast<double>(arguments_.size());
    } else if (name.empty()) {
        values = {unknown(fmt::format("${}", slice(begin + 2, 1)), offset)};
    } else {
        values = values_of(name, index, offset, set);
    }
    if (indirect && set && indexed && all) {  // the keys of an array
        const ShellVariable& variable = script_.variables.find(name)->second;
        values.clear();
        for (std::size_t i = 0; i < variable.texts.size(); ++i) {
            ShellText key;
            const std::string text =
                i < variable.keys.size() ? variable.keys[i] : std::to_string(i);
            for (const char c : text) key.add(c, offset);
            values.push_back(std::move(key));
        }
    } else if (indirect && set && values.size() == 1 && values.front().known &&
               !values.front().text.empty() &&
               std::ranges::all_of(values.front().text, is_name_part)) {
        name = values.front().text;
        values = values_of(name, "0", offset, set);
    } else if (indirect) {
        values = {unknown(slice(begin, end - begin), offset)};
    }
    if (counts) {
        ShellText number;
        const std::size_t n = all ? values.size() : values.front().text.size();
        const bool known = set && std::ranges::all_of(values, &ShellText::known);
        for (const char c : std::to_string(n))
            number.add(c, known ? offset : offset | ShellText::kOpen);
        values = {number};
    }
    std::size_t at = rest;
    const bool colon = at < stop && text()[at] == ':';
    if (colon) ++at;
    const char kind = at < stop ? text()[at] : '\0';
    const bool empty = !set || (colon && std::ranges::all_of(values, [](const ShellText& value) {
                                    return value.known && value.text.empty();
                                }));
    const bool whole = (all && index == "@") || arguments;
    if (kind == '-' || kind == '=' || kind == '+' || kind == '?') {
        if (kind == '+') {
            values = {empty ? ShellText{} : region(at + 1, stop, offset)};
        } else if (empty && kind != '?') {
            values = {region(at + 1, stop, offset)};
            if (kind == '=' && active_ && !name.empty()) script_.variables[name] = {values, false};
        }
    } else if (rest < stop && set) {
        bool known = true;
        std::vector<ShellText> made = changed(values, rest, stop, offset, known);
        values = known ? std::move(made)
                       : std::vector<ShellText>{
                             unknown(slice(begin, std::min<std::size_t>(end - begin, 60)), offset)};
    }
    substitute(word, field, has, values, how, whole);
}

}  // namespace debubble::jobs
