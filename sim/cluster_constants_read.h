#pragma once

#include <string_view>

#include "scenarios/scenario.h"

namespace debubble::sim {

/// Does a prediction of the scenario depend on this constant of its cluster (a dotted key)? What
/// only GPUs of several nodes need, say, is not read where all are in one.
bool is_read(const scenarios::Scenario& scenario, std::string_view constant);

}  // namespace debubble::sim
