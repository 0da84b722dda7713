#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trace/picture/document/time_axis.h"
#include "trace/trace.h"

/// Bars of one stream of a device: they do not overlap, so every question is a binary search.
namespace debubble::picture {

struct Bar {
    Instant begin;
    Instant end;
    std::uint32_t span = 0;  ///< index into Trace::spans
    TimeRange range() const { return {begin, end}; }
    friend bool operator==(const Bar&, const Bar&) = default;
};

using Bars = std::vector<Bar>;

/// The fewest tracks on which no spans overlap: each span goes onto the first track that is free
/// when it starts. Spans without length are left out, since they cannot be seen. Precondition:
/// `spans` are indices of the trace, ascending.
std::vector<Bars> tracks_of(const Trace& trace, std::span<const std::uint32_t> spans);

/// The bars that meet the range, as a half-open pair of indices of `bars`.
std::pair<std::size_t, std::size_t> bars_in(const Bars& bars, TimeRange range);

/// The bar that runs at this instant.
const Bar* bar_at(const Bars& bars, Instant at);

/// A bar in pixels of an axis; it may reach beyond the axis.
struct Box {
    double left = 0;
    double right = 0;
    std::uint32_t span = 0;
    double width() const { return right - left; }
};

std::vector<Box> visible_boxes(const Bars& bars, const TimeAxis& axis);

/// Mean width in pixels of the bars in sight; 0 without any.
double mean_width(const Bars& bars, const TimeAxis& axis);

}  // namespace debubble::picture
