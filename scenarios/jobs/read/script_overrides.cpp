#include "scenarios/jobs/read/script_settings.h"

#include <algorithm>
#include <set>

namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

/// "[a,b]" as a list.
NodePtr list_or_word(const ShellText& value, const text::SourcePosition& place) {
    if (!value.text.starts_with('[') || !value.text.ends_with(']'))
        return text::make_scalar(value.text, place);
    auto list = std::make_shared<Node>();
    list->kind = Node::Kind::List;
    list->place = place;
    std::string word;
    for (const char c : value.text.substr(1)) {
        if (c != ',' && c != ']' && c != ' ') {
            word += c;
        } else if (!word.empty()) {
            list->items.push_back(text::make_scalar(word, place));
            word.clear();
        }
    }
    return list;
}

/// The value without the quotes that hydra takes away: key="value".
ShellText without_quotes(const ShellText& value) {
    const std::size_t size = value.text.size();
    const char mark = size > 1 ? value.text.front() : ' ';
    const bool around = (mark == '"' || mark == '\'') && value.text.back() == mark;
    return around ? value.part(1, size - 2) : value;
}

}  // namespace

std::vector<Setting> hydra_overrides(const ShellScript& script) {
    std::vector<Setting> overrides;
    for (const ShellCommand& command : script.commands)
        for (const ShellText& written : command.words) {
            const std::size_t signs = std::min(written.text.find_first_not_of('+'), std::size_t{2});
            const ShellText word = signs > 0 && signs < written.text.size()
                                       ? written.part(signs, std::string::npos)
                                       : written;
            const std::size_t equals = word.text.find('=');
            if (equals == std::string::npos || word.text.starts_with('-')) continue;
            const auto place = script.place(word.offset());
            const std::string path = word.text.substr(0, equals);
            const ShellText value = without_quotes(word.part(equals + 1, std::string::npos));
            Setting setting{path, path, list_or_word(value, place), place, value.known};
            if (!value.known) {
                const std::set<std::string> lacks = lacking(value, script);
                setting.lacks.assign(lacks.begin(), lacks.end());
            }
            overrides.push_back(std::move(setting));
        }
    return overrides;
}

bool says_none(const Setting& setting) {
    return setting.value->is(Node::Kind::Scalar) &&
           (setting.value->scalar == "null" || setting.value->scalar == "None");
}

}  // namespace debubble::jobs
