#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

/// `debubble simulate --html`.
namespace debubble::sim {

/// A scenario as a person requested it, so that the same plan can be requested with other keys.
struct AskedScenario {
    std::string name;              ///< a file, a shipped scenario, or - for standard input
    std::string piped;             ///< the text that came from there
    std::vector<std::string> set;  ///< key=value
};
scenarios::Scenario read_scenario_of(const AskedScenario& asked,
                                     const std::vector<scenarios::Override>& overrides);

/// The page of the plans. A single plan is simulated again for its bill and with the other
/// schedules, if it has at most kMostPlayedAgain actions: `asked` says which plan that is. Standard
/// error reports this, unless the program is quiet.
std::string plan_pages(const AskedScenario& asked, std::span<const scenarios::Scenario> scenarios,
                       std::span<const PredictionWithTrace> answers, bool quiet);

}  // namespace debubble::sim
