#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "gui/viewmodel/source.h"

/// The fields of the what-if panel: what of a scenario can be changed by a click.
namespace debubble::gui {

struct FieldChoice {
    std::string value;                   ///< as YAML
    std::string help;                    ///< one line; may be empty
    std::optional<std::string> why_not;  ///< it cannot be chosen here, in words
};

struct Field {
    std::string key;  ///< dotted key of the scenario
    std::string label;
    std::string help;
    std::string value;     ///< as written, or what follows from the rest
    bool follows = false;  ///< it is not written: a default, or it follows from the rest
    bool whole = false;    ///< any whole number above 0; the choices are suggestions
    std::vector<FieldChoice> choices;
    std::optional<std::string> why_not;  ///< the field as a whole cannot be changed
};

/// `scenario`: what the text last made sense as. Throws InputError if the text is no YAML.
std::vector<Field> fields_of(const ScenarioText& source, const scenarios::Scenario& scenario);

/// The changes of the text that a new value of a field asks for: what is written and would
/// contradict it is taken back (`gpus` when `nodes` is set).
std::vector<scenarios::Override> changes_for(const ScenarioText& source, const std::string& key,
                                             const std::string& value);

/// The text with them.
ScenarioText with_change(const ScenarioText& source, const std::string& key,
                         const std::string& value);

/// The key of the field beside which a mistake is explained: the one that was changed last, for it
/// is there that a person looks; after typing in the text (none), the one that it stands at.
std::string field_of(const Diagnostic& mistake, const ScenarioText& source,
                     const std::vector<Field>& fields, const std::string& last_changed);

}  // namespace debubble::gui
