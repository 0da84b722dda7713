#pragma once

#include <memory>
#include <vector>

#include "models/graph.h"
#include "scenarios/scenario.h"
#include "sim/engine/cost_model.h"

namespace debubble::sim {

/// Prices a scenario: kernels on its GPU, collectives and messages over its
/// cluster, what the framework's host code costs, and what each pass holds.
/// `stages` says what each stage of the schedule holds of the model.
std::unique_ptr<CostModel> make_cost_model(const scenarios::Scenario& scenario,
                                           const std::vector<models::StageContent>& stages,
                                           const Schedule& schedule);

}  // namespace debubble::sim
