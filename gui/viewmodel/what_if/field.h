#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "gui/viewmodel/source.h"

/// The fields of the what-if panel, which change a scenario by a click.
namespace debubble::gui {

struct FieldChoice {
    std::string value;                   ///< as YAML
    std::string help;                    ///< one line; may be empty
    std::optional<std::string> why_not;  ///< the reason why it cannot be chosen here
};

/// The groups of fields, in the order of the panel.
enum class FieldGroup : std::uint8_t { Job, Schedule, Batch, Memory, More };
std::string name_of(FieldGroup group);  ///< heading: "Schedule"; empty for the first one

struct Field {
    std::string key;  ///< dotted key of the scenario
    std::string label;
    std::string help;
    std::string value;     ///< the written value, or the one that follows from the rest
    bool follows = false;  ///< whether it is not written: a default, or it follows from the rest
    bool whole = false;    ///< any whole number above 0; the choices are suggestions
    std::vector<FieldChoice> choices;
    std::optional<std::string> why_not;  ///< the reason why the whole field cannot be changed
    FieldGroup group = FieldGroup::Job;
    /// Whether the panel shows it: it can be changed, or it is written although it cannot apply.
    bool applies() const { return !why_not || !follows; }
};

/// The fields of a text, group by group. `scenario` is the last one that was read without mistakes.
/// Throws InputError if the text is not YAML.
std::vector<Field> fields_of(const ScenarioText& source, const scenarios::Scenario& scenario);

/// The written values of fields, by key, even if they contradict each other; empty if the text is
/// not YAML.
std::map<std::string, std::string> written_fields(const ScenarioText& source);

/// The changes of the text that a new value of a field requires: written keys that would contradict
/// it are removed (`gpus` when `nodes` is set), and a written number of stages per rank becomes
/// that of the chosen schedule, if the schedule has only one.
std::vector<scenarios::Override> changes_for(const ScenarioText& source, const std::string& key,
                                             const std::string& value);

/// The text with those changes.
ScenarioText with_change(const ScenarioText& source, const std::string& key,
                         const std::string& value);

/// The key of the field that explains a mistake: the field that was changed last, since the user
/// looks there; after typing in the text, the field of the key at the mistake.
std::string field_of(const Diagnostic& mistake, const ScenarioText& source,
                     const std::vector<Field>& fields, const std::string& last_changed);

}  // namespace debubble::gui
