#pragma once

#include <memory>
#include <vector>

#include "sim/cost/schedule_prices.h"
#include "sim/engine/cost_model.h"

namespace debubble::sim {

/// Prices a scenario: kernels on its GPU, collectives and messages over its cluster, and the time
/// of the framework's host code.
std::unique_ptr<CostModel> make_cost_model(std::shared_ptr<const SchedulePrices> prices);

/// The same without a memory model. `stages` gives the part of the model that each stage of the
/// schedule holds.
std::unique_ptr<CostModel> make_cost_model(const scenarios::Scenario& scenario,
                                           const std::vector<models::StageContent>& stages,
                                           const Schedule& schedule);

}  // namespace debubble::sim
