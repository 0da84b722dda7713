#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "scenarios/scenario.h"

/// What every JSON output begins with: its schema, the schema's version, and the plan that it is
/// about. Keys are added within a version, never renamed.
namespace debubble::sim {

/// {"schema": "debubble/<name>", "version": 1}
nlohmann::ordered_json schema_json(std::string_view name);

/// Model, cluster, cut, batch and schedule, as settled when the scenario was read, and under
/// `given` every key that the scenario gave, as it gave it: plans that differ differ there.
nlohmann::ordered_json plan_json(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
