#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trace/picture/document/time_axis.h"
#include "trace/trace.h"

/// Bars of one stream of a device. They do not overlap, so every query is a binary search.
namespace debubble::picture {

struct Bar {
    Instant begin;
    Instant end;
    std::uint32_t span = 0;  ///< index into Trace::spans
    TimeRange range() const { return {begin, end}; }
    friend bool operator==(const Bar&, const Bar&) = default;
};

using Bars = std::vector<Bar>;

/// Adds a span to the first track that is free when it starts, so that the spans of a track do not
/// overlap and the tracks are as few as possible. Returns the index of the track; nothing for a
/// span without length, which is invisible and left out. Precondition: spans are added in the order
/// of the trace.
std::optional<std::size_t> add_to_tracks(std::vector<Bars>& tracks, const Trace& trace,
                                         std::uint32_t span);

/// The tracks of these spans of a trace. Precondition: the indices ascend.
std::vector<Bars> tracks_of(const Trace& trace, std::span<const std::uint32_t> spans);

/// The bars that overlap the range, as a half-open range of indices into `bars`.
std::pair<std::size_t, std::size_t> bars_in(const Bars& bars, TimeRange range);

/// The index of the first bar from `from` on that ends after `at`; fast if it is near.
std::size_t first_to_end_after(std::span<const Bar> bars, std::size_t from, Instant at);

/// The bar that runs at this instant; nullptr if none does.
const Bar* bar_at(const Bars& bars, Instant at);

/// A bar in pixels of an axis. It may extend beyond the axis.
struct Box {
    double left = 0;
    double right = 0;
    std::uint32_t span = 0;
    double width() const { return right - left; }
};

std::vector<Box> visible_boxes(const Bars& bars, const TimeAxis& axis);

/// The mean width in pixels of the visible bars; 0 without any.
double mean_width(const Bars& bars, const TimeAxis& axis);

}  // namespace debubble::picture
