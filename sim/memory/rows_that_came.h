#pragma once

#include <cstdint>
#include <functional>

#include "models/graph/graph.h"
#include "schedule/schedule.h"

namespace debubble::sim {

/// The rows of a pass through a layer of experts that came to the rank, of which the plan knows the
/// mean alone.
using RowsThatCame =
    std::function<std::int64_t(Stage, const MicroBatch&, int layer, models::RoutedRows::Which)>;

}  // namespace debubble::sim
