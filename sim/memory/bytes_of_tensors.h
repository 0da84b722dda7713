#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "base/units.h"
#include "schedule/schedule.h"

namespace debubble::sim {

/// The bytes of a tensor of a stage's graph in one microbatch, where they are not those of the
/// graph, which has the mean of all microbatches.
using BytesOfTensors =
    std::function<std::optional<Bytes>(Stage, const MicroBatch&, std::size_t tensor)>;

}  // namespace debubble::sim
