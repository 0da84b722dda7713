#include "trace/picture/document/track.h"

#include <algorithm>

namespace debubble::picture {

std::vector<Bars> tracks_of(const Trace& trace, std::span<const std::uint32_t> spans) {
    std::vector<Bars> tracks;
    for (const std::uint32_t i : spans) {
        const Span& span = trace.spans[i];
        if (span.end <= span.begin) continue;
        const auto free = std::ranges::find_if(
            tracks, [&](const Bars& bars) { return bars.back().end <= span.begin; });
        Bars& bars = free == tracks.end() ? tracks.emplace_back() : *free;
        bars.push_back({span.begin, span.end, i});
    }
    return tracks;
}

std::pair<std::size_t, std::size_t> bars_in(const Bars& bars, TimeRange range) {
    const auto first = std::ranges::upper_bound(bars, range.begin, {}, &Bar::end);
    const auto last =
        std::ranges::lower_bound(first, bars.end(), range.end, std::ranges::less{}, &Bar::begin);
    return {static_cast<std::size_t>(first - bars.begin()),
            static_cast<std::size_t>(last - bars.begin())};
}

const Bar* bar_at(const Bars& bars, Instant at) {
    const auto found = std::ranges::upper_bound(bars, at, {}, &Bar::end);
    return found != bars.end() && found->begin <= at ? &*found : nullptr;
}

std::vector<Box> visible_boxes(const Bars& bars, const TimeAxis& axis) {
    const auto [first, last] = bars_in(bars, axis.shown());
    std::vector<Box> boxes;
    boxes.reserve(last - first);
    for (std::size_t i = first; i < last; ++i)
        boxes.push_back({axis.x(bars[i].begin), axis.x(bars[i].end), bars[i].span});
    return boxes;
}

double mean_width(const Bars& bars, const TimeAxis& axis) {
    const auto [first, last] = bars_in(bars, axis.shown());
    if (first == last) return 0;
    const Duration covered = std::min(bars[last - 1].end, axis.shown().end) -
                             std::max(bars[first].begin, axis.shown().begin);
    const double pixels = static_cast<double>(covered.count()) / axis.ns_per_pixel();
    return pixels / static_cast<double>(last - first);
}

}  // namespace debubble::picture
