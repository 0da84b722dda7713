#pragma once

#include <iosfwd>
#include <optional>
#include <span>

#include "trace/picture/svg_lane.h"

namespace debubble::svg {

/// One rank's memory over time: the part that is held throughout (parameters, gradients, optimizer,
/// buffers) darker, live activations and workspace above.
struct MemoryLane {
    Scale scale;
    Band band;
    Bytes top;  ///< value at the upper edge of the band
    std::optional<Bytes> limit;
    int rank = 0;
    std::span<const MemorySample> samples;  ///< samples of this rank, by time
    const MemoryPeak* peak = nullptr;
};

void write_memory(const MemoryLane& lane, std::ostream& out);

}  // namespace debubble::svg
