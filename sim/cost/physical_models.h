#pragma once

#include <memory>
#include <vector>

#include "sim/cost/schedule_prices.h"
#include "sim/engine/cost_model.h"
#include "sim/memory/memory_model.h"

/// The cost model and the memory model of a scenario on its cluster.
namespace debubble::sim {

/// Prices a scenario: kernels on its GPU, collectives and messages over its cluster, and the time
/// of the framework's host code.
std::unique_ptr<CostModel> make_cost_model(std::shared_ptr<const SchedulePrices> prices);

/// The same without a memory model. `stages` gives the part of the model that each stage of the
/// schedule holds.
std::unique_ptr<CostModel> make_cost_model(const scenarios::Scenario& scenario,
                                           const std::vector<models::StageContent>& stages,
                                           const Schedule& schedule);

/// The memory of a scenario's ranks: parameters, gradients and optimizer state by its sharding, and
/// the tensors of every pass.
std::unique_ptr<MemoryModel> make_memory_model(std::shared_ptr<const SchedulePrices> prices);

}  // namespace debubble::sim
