#include "gui/viewmodel/timeline/hit.h"

#include <algorithm>
#include <cmath>

#include "trace/picture/shapes/page_shapes.h"

namespace debubble::gui {
namespace {

constexpr double kPeakRadius = 6;  ///< radius in pixels within which the pointer is on the dot

bool inside(Band band, int y) {
    return band.y <= y && y < band.bottom();
}

Hit span_hit(const Row& row, const Bar* bar, Side side) {
    if (bar == nullptr) return {Hit::Part::Lane, &row, {}};
    return {Hit::Part::Span, &row, SpanRef{bar->span, side}};
}

/// The bar on top of the strip of messages and collectives: the one that started last.
const Bar* top_of_streams(const Device& device, Instant at) {
    const Bar* top = nullptr;
    for (const Stream& stream : device.streams) {
        const Bar* bar = stream.lane == Lane::Compute ? nullptr : bar_at(stream.bars, at);
        if (bar != nullptr && (top == nullptr || bar->begin > top->begin)) top = bar;
    }
    return top;
}

/// The lanes of one side of a comparison.
struct SideLanes {
    Side side = Side::A;
    Band bars;
    Band links;
    Band memory;
};

Hit side_hit(const Scene& scene, const Row& row, const SideLanes& lanes, Instant at, int y) {
    const Device* device = scene.device(row, lanes.side);
    if (device == nullptr) return {Hit::Part::Lane, &row, {}};
    if (row.links_of) return {Hit::Part::Lane, &row, {}, lanes.side};
    if (inside(lanes.memory, y)) return {Hit::Part::Memory, &row, {}, lanes.side};
    if (inside(lanes.links, y)) return span_hit(row, top_of_streams(*device, at), lanes.side);
    if (!inside(lanes.bars, y)) return {Hit::Part::Lane, &row, {}};
    if (row.stream) {
        const Stream* stream = scene.stream(row, lanes.side);
        return span_hit(row, stream == nullptr ? nullptr : bar_at(stream->bars, at), lanes.side);
    }
    const Bar* bar = bar_at(device->work, at);
    if (bar == nullptr) bar = bar_at(device->between, at);
    if (bar != nullptr || lanes.side == Side::B) return span_hit(row, bar, lanes.side);
    if (const auto bubble = bubble_at(*scene.main.document, *device, at))
        return {Hit::Part::Bubble, &row, BubbleRef{*bubble}};
    return {Hit::Part::Lane, &row, {}};
}

}  // namespace

std::optional<SpanPlace> place_of(const Scene& scene, const SpanRef& ref) {
    const Layer& layer = scene.layer(ref.side);
    if (!layer || ref.index >= layer.document->trace.spans.size()) return std::nullopt;
    const Span& span = layer.document->span(ref.index);
    const TimeRange range = layer.on_axis(span);
    const bool of_a = ref.side == Side::A;
    const auto holds = [&](const Bars& bars) {
        const Bar* bar = bar_at(bars, span.begin);
        return bar != nullptr && bar->span == ref.index;
    };
    const Row* closed = nullptr;  // the device's own row, in which its streams share a strip
    for (const Row& row : scene.layout.rows) {
        if (scene.main.document->devices[row.device].rank != span.rank) continue;
        const Device* device = row.links_of ? nullptr : scene.device(row, ref.side);
        if (device == nullptr || device->replica != span.replica) continue;
        const Stream* stream = scene.stream(row, ref.side);
        if (row.stream ? stream != nullptr && holds(stream->bars) : holds(device->work))
            return SpanPlace{&row, of_a ? row.bars : row.other, range};
        if (!row.stream && closed == nullptr) closed = &row;
    }
    if (closed == nullptr) return std::nullopt;
    const Band strip = of_a ? closed->links : closed->other_links;
    return SpanPlace{closed, strip.height > 0 ? strip : of_a ? closed->bars : closed->other, range};
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
    return scene.layout.row_of(device - document.devices.data());
}

std::optional<std::uint32_t> bubble_at(const TimelineDocument& document, const Device& device,
                                       Instant at) {
    const auto first = document.statistics.bubbles.begin() + device.first_bubble;
    const auto last = document.statistics.bubbles.begin() + device.last_bubble;
    const auto next = std::ranges::upper_bound(first, last, at, std::ranges::less{}, &Bubble::end);
    if (next == last || next->begin > at) return std::nullopt;
    return static_cast<std::uint32_t>(next - document.statistics.bubbles.begin());
}

Hit hit_test(const Scene& scene, const TimeAxis& axis, double x, int y) {
    const Row* row = scene.main ? scene.layout.row_at(y) : nullptr;
    if (row == nullptr) return {};
    for (const Side side : {Side::A, Side::B})
        if (const auto peak = peak_point(scene, *row, side, axis))
            if (std::hypot(peak->x - x, peak->y - y) <= kPeakRadius)
                return {Hit::Part::Peak, row, {}, side};
    const Instant at = axis.at(x);
    const bool of_b =
        scene.comparison && (inside(row->other, y) || inside(row->other_links, y) ||
                             inside(row->other_memory, y) || inside(row->other_use, y));
    if (of_b)
        return side_hit(scene, *row, {Side::B, row->other, row->other_links, row->other_memory},
                        at - scene.other.shift, y);
    Band bars = row->bars;  // the strip of errors belongs to A's actions
    bars.height += row->error.height;
    return side_hit(scene, *row, {Side::A, bars, row->links, row->memory}, at - scene.main.shift,
                    y);
}

}  // namespace debubble::gui
