#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/picture/document/palette.h"
#include "trace/picture/document/time_axis.h"
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

/// What such a picture is drawn from: a step without all else that a trace has.
struct SmallBars {
    struct Bar {
        Instant begin;
        Instant end;
        int line = 0;
        Paint paint{};
        std::optional<Paint> second;  ///< of a pair, which has half of the bar
    };
    std::vector<Bar> bars;
    int lines = 0;
    picture::TimeRange range;  ///< of the step
};

/// The bars of the first kMostLines of evenly chosen ranks.
SmallBars small_bars(const std::vector<Span>& spans);
inline constexpr std::size_t kMostLines = 16;

/// Draws them on an axis of that length from the step's begin on; time after its end has the colour
/// of the window.
SmallTimeline small_timeline(const SmallBars& step, Duration axis, int width);

}  // namespace debubble::sim
