#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/read_scenario.h"
#include "trace/trace.h"

/// What a person opens: a scenario, kept as the text that it is, or a trace.
namespace debubble::gui {

/// A scenario's YAML. The text is the one truth of a what-if: every change is a change of it.
struct ScenarioText {
    std::string text;
    std::string file;  ///< where it was read; relative paths in it are seen from there
    friend bool operator==(const ScenarioText&, const ScenarioText&) = default;
};

struct TraceFile {
    Trace trace;
    std::string file;
};

using Source = std::variant<ScenarioText, TraceFile>;

/// A file or the name of a shipped scenario. What ends in .json is a trace. Throws InputError
/// if it cannot be read; the scenario itself is not looked at yet.
Source open_source(const std::string& name_or_path);

/// "gpt2-xl" of ".../gpt2-xl.yaml".
std::string title_of(const std::string& file);

}  // namespace debubble::gui
