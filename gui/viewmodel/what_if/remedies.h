#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "sim/prediction.h"

/// Changes that make a plan fit, or possible.
namespace debubble::gui {

/// One change of one field, with what it would come to.
struct Remedy {
    std::string key;    ///< of the scenario: "training.recompute"
    std::string value;  ///< "selective"
    std::string words;  ///< "recompute selective: fits, 61.2 GiB, step +3.1 %"
    double step_time_s = 0;
    friend bool operator==(const Remedy&, const Remedy&) = default;
};

/// The remedies of a plan that does not fit, or (without a prediction) of one that is impossible:
/// single changes after which it fits, the fastest step first, at most kMostRemedies. Each is
/// predicted. Pure and thread-safe. Throws Cancelled soon after they are no longer wanted.
std::vector<Remedy> remedies(const ScenarioText& source, const std::optional<sim::Prediction>& now,
                             const std::stop_token& stop = {});
inline constexpr std::size_t kMostRemedies = 3;

}  // namespace debubble::gui
