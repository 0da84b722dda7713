#include "gui/viewmodel/timeline/hit.h"

#include <algorithm>
#include <cmath>

namespace debubble::gui {
namespace {

constexpr double kPeakRadius = 6;  ///< pixels around the dot that count as the dot

bool inside(Band band, int y) {
    return band.y <= y && y < band.bottom();
}

Hit span_hit(const Row& row, const Bar* bar, Side side) {
    if (bar == nullptr) return {Hit::Part::Lane, &row, {}};
    return {Hit::Part::Span, &row, SpanRef{bar->span, side}};
}

/// Messages and collectives share a strip; the one that began last is on top.
const Bar* top_of_streams(const Device& device, Instant at) {
    const Bar* top = nullptr;
    for (const Stream& stream : device.streams) {
        const Bar* bar = stream.lane == Lane::Compute ? nullptr : bar_at(stream.bars, at);
        if (bar != nullptr && (top == nullptr || bar->begin > top->begin)) top = bar;
    }
    return top;
}

}  // namespace

std::optional<Place> place_of(const Scene& scene, const SpanRef& ref) {
    const Layer& layer = scene.layer(ref.side);
    if (!layer || ref.index >= layer.document->trace.spans.size()) return std::nullopt;
    const Span& span = layer.document->span(ref.index);
    const TimeRange range{span.begin + layer.shift, span.end + layer.shift};
    const auto holds = [&](const Bars& bars) {
        const Bar* bar = bar_at(bars, span.begin);
        return bar != nullptr && bar->span == ref.index;
    };
    const auto& devices = scene.main.document->devices;
    for (const Row& row : scene.layout.rows) {
        const Device& device = devices[row.device];
        if (device.rank != span.rank) continue;
        if (ref.side == Side::B) return Place{&row, row.other, range};
        if (device.replica != span.replica) continue;
        if (row.stream ? holds(device.streams[*row.stream].bars) : holds(device.work))
            return Place{&row, row.bars, range};
    }
    const Device* device = layer.document->device_of(span);
    const Row* row = ref.side == Side::A
                         ? scene.layout.row_of(static_cast<std::size_t>(device - devices.data()))
                         : nullptr;
    if (row == nullptr) return std::nullopt;
    return Place{row, row->links.height > 0 ? row->links : row->bars, range};
}

const Row* row_of(const Scene& scene, const Selection& selection) {
    if (const auto* span = std::get_if<SpanRef>(&selection)) {
        const auto place = place_of(scene, *span);
        return place ? place->row : nullptr;
    }
    const auto* bubble = std::get_if<BubbleRef>(&selection);
    if (bubble == nullptr || !scene.main) return nullptr;
    const TimelineDocument& document = *scene.main.document;
    const Device* device = document.device_of(document.bubble(bubble->index).rank);
    return scene.layout.row_of(static_cast<std::size_t>(device - document.devices.data()));
}

std::optional<std::uint32_t> bubble_at(const TimelineDocument& document, const Device& device,
                                       Instant at) {
    const auto first = document.statistics.bubbles.begin() + device.first_bubble;
    const auto last = document.statistics.bubbles.begin() + device.last_bubble;
    const auto next = std::ranges::upper_bound(first, last, at, std::ranges::less{}, &Bubble::end);
    if (next == last || next->begin > at) return std::nullopt;
    return static_cast<std::uint32_t>(next - document.statistics.bubbles.begin());
}

std::vector<std::uint32_t> wide_bubbles(const TimelineDocument& document, const Device& device,
                                        const TimeAxis& axis, double least_width) {
    const auto& bubbles = document.statistics.bubbles;
    const Duration least{static_cast<Duration::rep>(std::ceil(least_width * axis.ns_per_pixel()))};
    const auto first = bubbles.begin() + device.first_bubble;
    const auto last = bubbles.begin() + device.last_bubble;
    const TimeRange shown = axis.shown();
    const auto in_sight = std::ranges::upper_bound(first, last, shown.begin, {}, &Bubble::end);
    const auto beyond = std::ranges::lower_bound(in_sight, last, shown.end, {}, &Bubble::begin);
    std::vector<std::uint32_t> wide;
    const auto add = [&](std::uint32_t i) {
        const Bubble& b = bubbles[i];
        if (b.end - b.begin >= least && TimeRange{b.begin, b.end}.meets(shown)) wide.push_back(i);
    };
    if (static_cast<double>(beyond - in_sight) < 4 * axis.width()) {
        for (auto b = in_sight; b != beyond; ++b)
            add(static_cast<std::uint32_t>(b - bubbles.begin()));
        return wide;
    }
    // Far more than there are pixels: few of them can be wide, and those stand in front.
    for (const std::uint32_t i : device.longest_bubbles) {
        if (bubbles[i].end - bubbles[i].begin < least) break;
        add(i);
    }
    return wide;
}

std::optional<Point> peak_point(const Scene& scene, const Row& row, const TimeAxis& axis) {
    const TimelineDocument& document = *scene.main.document;
    const Device& device = document.devices[row.device];
    if (row.stream || row.heat || row.memory.height == 0 || device.peak == nullptr)
        return std::nullopt;
    const MemoryScale scale{document.memory_top, document.memory_limit};
    return Point{axis.x(device.peak->at),
                 static_cast<double>(scale.y(row.memory, total(device.peak->held)))};
}

Hit hit_test(const Scene& scene, const TimeAxis& axis, double x, int y) {
    const Row* row = scene.main ? scene.layout.row_at(y) : nullptr;
    if (row == nullptr) return {};
    const TimelineDocument& document = *scene.main.document;
    const Device& device = document.devices[row->device];
    const Instant at = axis.at(x);
    if (row->stream) return span_hit(*row, bar_at(device.streams[*row->stream].bars, at), Side::A);
    if (const auto peak = peak_point(scene, *row, axis))
        if (std::hypot(peak->x - x, peak->y - y) <= kPeakRadius) return {Hit::Part::Peak, row, {}};
    if (inside(row->memory, y)) return {Hit::Part::Memory, row, {}};
    if (inside(row->links, y)) return span_hit(*row, top_of_streams(device, at), Side::A);
    if (scene.comparison && inside(row->other, y)) {
        const Device* other = scene.counterpart(device);
        if (other == nullptr) return {Hit::Part::Lane, row, {}};
        return span_hit(*row, bar_at(other->work, at - scene.other.shift), Side::B);
    }
    if (!inside(row->bars, y) && !inside(row->error, y)) return {Hit::Part::Lane, row, {}};
    if (const Bar* bar = bar_at(device.work, at)) return span_hit(*row, bar, Side::A);
    if (const auto bubble = bubble_at(document, device, at))
        return {Hit::Part::Bubble, row, BubbleRef{*bubble}};
    return {Hit::Part::Lane, row, {}};
}

}  // namespace debubble::gui
