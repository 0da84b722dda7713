#pragma once

#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"

namespace debubble::sim {

/// The parts of a scenario that no measured training step covers, in words: the constants of its
/// machine, its schedule, the host of its framework.
std::vector<std::string> unvalidated_features(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
