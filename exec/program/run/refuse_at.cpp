#include "exec/program/run/prepare_run.h"

#include <algorithm>
#include <string_view>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"

namespace debubble::exec {

namespace {

/// The value of the innermost of the dotted key's maps that is there; null if none is.
text::NodePtr innermost(text::NodePtr map, std::string_view key) {
    text::NodePtr found;
    while (map && !key.empty()) {
        const std::size_t dot = std::min(key.find('.'), key.size());
        map = map->get(key.substr(0, dot));
        if (map) found = map;
        key.remove_prefix(std::min(dot + 1, key.size()));
    }
    return found;
}

}  // namespace

void refuse_at(const std::string& scenario, const Unsupported& part) {
    const auto file = scenarios::find_scenario(scenario);
    if (const text::NodePtr value = innermost(text::read_yaml(file), part.key)) {
        text::Mistakes mistakes;
        mistakes.add(value->place, part.sentence);
        mistakes.throw_if_any();
    }
    throw InputError({{{file.string(), 0, 0}, part.sentence, {}}});
}

}  // namespace debubble::exec
