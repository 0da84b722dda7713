#pragma once

#include "models/partition/partition.h"
#include "sim/cost/schedule_prices.h"

namespace debubble::sim {

/// Seconds that each layer adds to all passes of a microbatch over its stage, and that the
/// embedding and the head add to theirs, where stages have about as many layers as `stages` equal
/// ones. An additional layer of a stage adds no launch or wait of the pass itself, and is
/// recomputed only if the last layer of a stage is.
models::LayerCosts layer_costs(const SchedulePrices& prices, int stages);

}  // namespace debubble::sim
