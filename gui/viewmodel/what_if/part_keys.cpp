#include "gui/viewmodel/what_if/part_keys.h"

#include <string>

#include "scenarios/read/edit.h"

namespace debubble::gui {

ScenarioText with_part_key(ScenarioText source, const scenarios::Override& change) {
    const std::string part = change.first.substr(0, change.first.find('.'));
    const bool is_file =
        part == "cluster" || part == "model" || part == "framework" || part == "reliability";
    if (part != change.first && is_file) {
        const auto word = scenarios::written_at(source.text, source.file, part);
        if (word && !word->empty() && word->front() != '{')
            source.text = scenarios::with_key(source.text, source.file, {part, *word});
    }
    source.text = scenarios::with_key(source.text, source.file, change);
    return source;
}

}  // namespace debubble::gui
