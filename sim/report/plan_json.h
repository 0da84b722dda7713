#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "scenarios/plan/scenario.h"

/// The head of every JSON output: its schema, the schema's version, and its plan. Keys are added
/// within a version, never renamed.
namespace debubble::sim {

/// {"schema": "debubble/<name>", "version": 1}
nlohmann::ordered_json schema_json(std::string_view name);

/// Model, cluster, partition, batch and schedule, as settled when the scenario was read, and under
/// `given` every key of the scenario as it was given: plans that differ differ there.
nlohmann::ordered_json plan_json(const scenarios::Scenario& scenario);

/// The values of such a plan by dotted key, given ones where nothing settled has the key; without
/// texts, and without the nodes, which follow from the number of GPUs.
std::map<std::string, std::string> plan_values(nlohmann::ordered_json plan);

}  // namespace debubble::sim
