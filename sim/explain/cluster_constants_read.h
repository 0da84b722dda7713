#pragma once

#include <string_view>

#include "scenarios/plan/scenario.h"

namespace debubble::sim {

/// True if a prediction of the scenario depends on this constant of its cluster (a dotted key). For
/// example, constants of the network between nodes are not read if all GPUs are in one node.
bool is_read(const scenarios::Scenario& scenario, std::string_view constant);
/// The same for a constant that all clusters share (models/execution/laws.h), by its name.
bool reads_law(const scenarios::Scenario& scenario, std::string_view constant);

}  // namespace debubble::sim
