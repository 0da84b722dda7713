#include "trace/picture/document/track.h"

#include <algorithm>

namespace debubble::picture {

std::optional<std::size_t> add_to_tracks(std::vector<Bars>& tracks, const Trace& trace,
                                         std::uint32_t i) {
    const Span& span = trace.spans[i];
    if (span.end <= span.begin) return std::nullopt;
    const auto is_free = [&](const Bars& bars) {
        return bars.empty() || bars.back().end <= span.begin;
    };
    auto track = std::ranges::find_if(tracks, is_free);
    if (track == tracks.end()) track = tracks.emplace(tracks.end());
    track->push_back({span.begin, span.end, i});
    return track - tracks.begin();
}

std::vector<Bars> tracks_of(const Trace& trace, std::span<const std::uint32_t> spans) {
    std::vector<Bars> tracks;
    for (const std::uint32_t i : spans) add_to_tracks(tracks, trace, i);
    return tracks;
}

std::pair<std::size_t, std::size_t> bars_in(const Bars& bars, TimeRange range) {
    const auto first = std::ranges::upper_bound(bars, range.begin, {}, &Bar::end);
    const auto last =
        std::ranges::lower_bound(first, bars.end(), range.end, std::ranges::less{}, &Bar::begin);
    return {first - bars.begin(), last - bars.begin()};
}

std::size_t first_to_end_after(std::span<const Bar> bars, std::size_t from, Instant at) {
    // The steps double: near bars are found at once, far ones in logarithmic time.
    std::size_t step = 1;
    std::size_t last = from;
    while (last < bars.size() && bars[last].end <= at) {
        from = last + 1;
        last += step;
        step *= 2;
    }
    const auto between = bars.subspan(from, std::min(last, bars.size()) - from);
    const auto found = std::ranges::upper_bound(between, at, {}, &Bar::end);
    return from + (found - between.begin());
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
