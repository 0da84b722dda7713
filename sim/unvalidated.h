#pragma once

#include <string>
#include <vector>

#include "scenarios/scenario.h"

namespace debubble::sim {

/// The parts of a scenario that no measured training step covers, in words: the constants of its
/// machine, its schedule, its sharding. Empty for 1F1B and interleaved 1F1B of GPT models on A100
/// nodes, which the cost model was compared with.
std::vector<std::string> unvalidated_features(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
