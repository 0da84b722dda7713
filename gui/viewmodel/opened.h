#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "gui/viewmodel/timeline/pairing.h"
#include "trace/steps.h"

namespace debubble::gui {

struct PredictedPlan;

/// A trace on the screen, with the name of its origin.
struct Shown {
    Document document;
    std::string file;                                ///< a file, or words such as "this plan"
    std::shared_ptr<const PredictedPlan> plan = {};  ///< the plan that it predicts, if it is known
    /// All steps of a trace with several. The document shows one of them.
    std::shared_ptr<const SplitSteps> steps = {};
    std::size_t step = 0;  ///< the shown step
    /// All files of a trace with several: the ranks of one run.
    std::vector<std::string> files = {};
    std::string words = {};  ///< how the passes of a profile were found
};

/// The steps of a trace in words: "1: 112.4 ms"; the median one is marked.
std::vector<std::string> names_of_steps(const Shown& shown);

/// The origin of two compared traces.
enum class Compares {
    Files,  ///< two files, opened together
    Plans,  ///< the open plan and another one
    Run,    ///< a plan and its execution
};

/// The result of opening files: one scenario as a plan for what-ifs, one trace, or a comparison of
/// two traces, one of which may be a predicted scenario.
struct Opened {
    std::optional<ScenarioText> scenario;
    std::vector<Shown> traces;
    Compares compares = Compares::Files;
    std::shared_ptr<const Pairing> pairing;  ///< pairs of two traces
    /// Comparison of two traces in words: the output of `debubble compare`.
    std::string comparison;
    std::vector<Diagnostic> mistakes;  ///< if there are any, everything else is empty
};

/// Shows another step of a trace. Precondition: it has that many.
Opened open_step(const Shown& shown, std::size_t step);

/// Opens files; the files of a profiler are the ranks of one run. `set` has key=value settings of a
/// scenario. It is pure and thread-safe; its time is that of reading the largest trace.
Opened open_all(const std::vector<std::string>& files, const std::vector<std::string>& set);

/// Compares two open traces.
Opened open_both(const Shown& a, const Shown& b);

/// Compares a prediction with the trace of its run. The passes in the files of a profiler are named
/// by the plan, and both traces are reduced to the kinds of actions that both have.
Opened open_run(const Shown& predicted, const std::vector<std::string>& executed);

}  // namespace debubble::gui
