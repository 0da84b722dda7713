#include <algorithm>
#include <cctype>
#include <iterator>

#include "scenarios/jobs/shell/reader.h"
#include "scenarios/jobs/shell/settings.h"

/// Assignments to variables, arrays and their elements.
namespace debubble::jobs {

/// NAME=value, NAME+=value, NAME=(...), NAME[i]=value.
bool ShellReader::assignment(bool in_command) {
    const std::size_t begin = at_;
    const std::string name = name_here();
    const bool named = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
    if (named && here() == '[') {
        const std::size_t close = text().find(']', at_);
        if (close != std::string::npos && close + 1 < text().size() && text()[close + 1] == '=') {
            const std::string index =
                region(at_ + 1, close, static_cast<std::uint32_t>(begin)).text;
            at_ = close + 2;
            ShellText value = whole_word();
            if (active_) assign_element(name, index, std::move(value));
            return true;
        }
    }
    const bool adds = here() == '+' && here(1) == '=';
    if (!named || (here() != '=' && !adds)) {
        at_ = begin;
        return false;
    }
    at_ += adds ? 2 : 1;
    ShellVariable value;
    if (here() == '(' && !in_command)
        value = array();
    else
        value.texts.push_back(whole_word());
    if (active_) assign(name, std::move(value), adds);
    return true;
}

void ShellReader::assign_element(const std::string& name, const std::string& index,
                                 ShellText value) {
    ShellVariable& variable = script_.variables[name];
    variable.is_array = true;
    const auto plain = number_of(index);
    if (!plain || !variable.keys.empty()) {
        variable.keys.resize(variable.texts.size());
        const auto found = std::ranges::find(variable.keys, index);
        if (found != variable.keys.end()) {
            variable.texts[found - variable.keys.begin()] = value;
            return;
        }
        variable.keys.push_back(index);
        variable.texts.push_back(std::move(value));
        return;
    }
    constexpr double kMostElements = 10'000;
    if (*plain < 0 || *plain > kMostElements) return;
    const auto i = static_cast<std::size_t>(*plain);
    if (i >= variable.texts.size()) variable.texts.resize(i + 1);
    variable.texts[i] = std::move(value);
}

void ShellReader::assign(const std::string& name, ShellVariable value, bool adds) {
    if (!value.is_array && !value.texts.front().known && !adds) {
        const ShellText& text = value.texts.front();
        const auto given = environment_.find(name);
        const bool printed = (text.text.starts_with("$(") && !text.text.starts_with("$((")) ||
                             text.text.starts_with('`');
        if (given != environment_.end()) {
            script_.used.insert(name);
            value.texts.front() = given->second;
        } else if (printed) {
            // The output of a program gets the name of its variable, by which it can be given.
            value.texts.front() = unknown("${" + name + "}", text.offset());
        }
    }
    ShellVariable& variable = script_.variables[name];
    if (!adds) {
        variable = std::move(value);
    } else if (value.is_array || variable.is_array) {
        variable.is_array = true;
        std::ranges::move(value.texts, std::back_inserter(variable.texts));
        std::ranges::move(value.keys, std::back_inserter(variable.keys));
    } else if (variable.texts.empty()) {
        variable = std::move(value);
    } else {
        variable.texts.front().add(value.texts.front());
        count(variable.texts.front().text.size());
    }
}

/// After `export`, `declare` and their like: assignments and names.
void ShellReader::declare() {
    for (blanks(); !at_separator() && here() != '#'; blanks()) {
        const std::size_t before = at_;
        if (!assignment(false)) (void)whole_word();
        if (at_ == before) ++at_;
    }
}

}  // namespace debubble::jobs
