#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "gui/viewmodel/timeline/pairing.h"

namespace debubble::gui {

/// A trace to look at, with the name of where it came from.
struct Shown {
    Document document;
    std::string file;
};

/// What became of some files that were to be opened. One scenario is a plan to play with; traces
/// are looked at, two of them (or a scenario, predicted, and a trace) beside each other.
struct Opened {
    std::optional<ScenarioText> scenario;
    std::vector<Shown> traces;
    std::shared_ptr<const Pairing> pairing;  ///< of two traces
    std::string comparison;            ///< of two traces, in words: what `debubble compare` prints
    std::vector<Diagnostic> mistakes;  ///< if there are any, there is nothing else
};

/// `set`: key=value of a scenario. Pure and thread-safe; takes as long as the largest trace.
Opened open_all(const std::vector<std::string>& files, const std::vector<std::string>& set);

/// Two that are there already.
Opened open_both(const Shown& a, const Shown& b);

/// A prediction beside the trace of its run.
Opened open_run(const Shown& predicted, const std::string& executed);

}  // namespace debubble::gui
