#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "scenarios/read/sweep.h"
#include "sim/plan/prediction.h"

/// Changes that make a plan fit or possible.
namespace debubble::gui {

/// A change of one field, or of a field and another one that it needs, with its predicted result.
struct Remedy {
    std::vector<scenarios::Override>
        changes;        ///< changes of keys: "training.recompute", "selective"
    std::string words;  ///< "recompute selective: 61.2 GiB, step +3.1 %"
    double step_time_s = 0;
    friend bool operator==(const Remedy&, const Remedy&) = default;
};

/// The remedies of a plan that does not fit, or (without a prediction) of one that is impossible:
/// single changes after which it fits, the fastest step first, at most kMostRemedies; if there is
/// none, changes with all remaining GPUs as replicas, and as many microbatches as the batch needs.
/// Each is predicted. Pure and thread-safe. Throws Cancelled soon after a stop is requested.
std::vector<Remedy> remedies(const ScenarioText& source, const std::optional<sim::Prediction>& now,
                             const std::stop_token& stop = {});
inline constexpr std::size_t kMostRemedies = 3;

/// The scenario with a remedy.
ScenarioText with_remedy(ScenarioText source, const Remedy& remedy);

}  // namespace debubble::gui
