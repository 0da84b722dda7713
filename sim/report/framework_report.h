#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "scenarios/plan/scenario.h"

namespace debubble::sim {

/// A list of {framework, sentence, place}, one for each rule of the framework that the plan breaks.
nlohmann::ordered_json framework_checks_json(const scenarios::Scenario& scenario);

/// The same as lines below a report; one sentence where no rule is broken.
std::string framework_checks_text(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
