#pragma once

#include <memory>

#include "sim/cost/schedule_prices.h"
#include "sim/memory/memory_model.h"

namespace debubble::sim {

/// The memory of a scenario's ranks: parameters, gradients and optimizer state by its sharding, and
/// the tensors of every pass.
std::unique_ptr<MemoryModel> make_memory_model(std::shared_ptr<const SchedulePrices> prices);

}  // namespace debubble::sim
