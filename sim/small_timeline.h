#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace debubble::sim {

/// A small picture of a step: a line of colours for each rank. Colours are 0xffRRGGBB, each the
/// mean of the time that it covers, by kind of work and by light.
struct SmallTimeline {
    int width = 0;
    std::vector<std::vector<std::uint32_t>> light;  ///< by rank
    std::vector<std::vector<std::uint32_t>> dark;
    friend bool operator==(const SmallTimeline&, const SmallTimeline&) = default;
};

/// Draws the first kMostLines of evenly chosen ranks, on an axis of that length from the trace's
/// begin on; time after its end has the colour of the window.
SmallTimeline small_timeline(const Trace& trace, Duration axis, int width);
inline constexpr std::size_t kMostLines = 16;

}  // namespace debubble::sim
