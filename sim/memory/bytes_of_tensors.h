#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/units.h"
#include "models/graph/graph.h"
#include "schedule/schedule.h"

namespace debubble::sim {

/// The bytes of a tensor of a stage's graph in one microbatch, where they are not those of the
/// graph, which has the mean of all microbatches.
using BytesOfTensors =
    std::function<std::optional<Bytes>(Stage, const MicroBatch&, std::size_t tensor)>;

/// The rows of a pass through a layer of experts that came to the rank, of which the plan knows the
/// mean alone.
using RowsThatCame =
    std::function<std::int64_t(Stage, const MicroBatch&, int layer, models::RoutedRows::Which)>;

}  // namespace debubble::sim
