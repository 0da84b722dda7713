#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "gui/viewmodel/timeline/pairing.h"

namespace debubble::gui {

struct PredictedPlan;

/// A trace to look at, with the name of its origin.
struct Shown {
    Document document;
    std::string file;                                ///< a file, or words such as "this plan"
    std::shared_ptr<const PredictedPlan> plan = {};  ///< the plan that it predicts, if it is known
};

/// The origin of two traces that are compared.
enum class Compares {
    Files,  ///< files that were opened together
    Plans,  ///< the open plan and another one
    Run,    ///< a plan and what was executed of it
};

/// The result of opening files. One scenario is a plan to experiment with; traces are looked at,
/// two of them (or a scenario, predicted, and a trace) in comparison.
struct Opened {
    std::optional<ScenarioText> scenario;
    std::vector<Shown> traces;
    Compares compares = Compares::Files;
    std::shared_ptr<const Pairing> pairing;  ///< pairs of two traces
    /// Comparison of two traces in words: the output of `debubble compare`.
    std::string comparison;
    std::vector<Diagnostic> mistakes;  ///< if there are any, everything else is empty
};

/// Opens the files; `set` holds key=value settings of a scenario. It is pure and thread-safe, and
/// takes as long as the largest trace.
Opened open_all(const std::vector<std::string>& files, const std::vector<std::string>& set);

/// Compares two traces that are there already.
Opened open_both(const Shown& a, const Shown& b);

/// Compares a prediction with the trace of its run.
Opened open_run(const Shown& predicted, const std::string& executed);

}  // namespace debubble::gui
