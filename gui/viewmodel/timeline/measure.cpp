#include "gui/viewmodel/timeline/measure.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "gui/viewmodel/timeline/area_totals.h"
#include "gui/viewmodel/timeline/hit.h"
#include "gui/viewmodel/timeline/words.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

/// The bars of a row at a height, on the axis.
struct ShownBars {
    const Bars* bars = nullptr;
    const Layer* layer = nullptr;
};

ShownBars bars_at(const Scene& scene, int y) {
    const Row* row = scene.main ? scene.layout.row_at(y) : nullptr;
    if (row == nullptr || row->links_of) return {};
    const bool below = row->other.y <= y && y < row->other.bottom();
    const Side side = scene.comparison && below ? Side::B : Side::A;
    const Device* device = scene.device(*row, side);
    if (device == nullptr) return {};
    if (!row->stream) return {&device->work, &scene.layer(side)};
    const Stream* stream = scene.stream(*row, side);
    return stream == nullptr ? ShownBars{} : ShownBars{&stream->bars, &scene.layer(side)};
}

/// Calls `visit` for the bar at an instant and for its neighbours, which have all edges that can be
/// near.
template <class Visit>
void for_each_near(const Bars& bars, Instant at, Visit&& visit) {
    const auto next = std::ranges::upper_bound(bars, at, {}, &Bar::end);
    if (next != bars.begin()) visit(*std::prev(next));
    if (next != bars.end()) visit(*next);
    if (next != bars.end() && std::next(next) != bars.end()) visit(*std::next(next));
}

std::string edge_name(const Scene& scene, int y, Instant at) {
    const ShownBars shown = bars_at(scene, y);
    std::string name;
    if (shown.bars == nullptr) return name;
    const TimelineDocument& document = *shown.layer->document;
    for_each_near(*shown.bars, at - shown.layer->shift, [&](const Bar& bar) {
        const std::string action = to_text(document.span(bar.span).action);
        if (bar.begin + shown.layer->shift == at)
            name = filled(said("details", "start of {}"), action);
        if (bar.end + shown.layer->shift == at && name.empty())
            name = filled(said("details", "end of {}"), action);
    });
    return name;
}

}  // namespace

Instant snap(const Scene& scene, const TimeAxis& axis, double x, int y) {
    const Instant pointed = axis.at(x);
    const ShownBars shown = bars_at(scene, y);
    if (shown.bars == nullptr) return pointed;
    Instant nearest = pointed;
    double distance = kSnap;
    const auto consider = [&](Instant edge) {
        const double away = std::abs(axis.x(edge) - x);
        if (away > distance) return;
        distance = away;
        nearest = edge;
    };
    const Duration shift = shown.layer->shift;
    for_each_near(*shown.bars, pointed - shift, [&](const Bar& bar) {
        consider(bar.begin + shift);
        consider(bar.end + shift);
    });
    return nearest;
}

std::vector<Detail> details_of_range(const Scene& scene, const ViewState& state) {
    if (!state.measured) return {};
    const TimeRange range = *state.measured;
    std::vector<Detail> details{{said("details", "measured"), text::time_text(range.length())}};
    const std::string from = edge_name(scene, state.measured_y, range.begin);
    const std::string to = edge_name(scene, state.measured_y, range.end);
    if (!from.empty()) details.push_back({said("details", "from"), from});
    if (!to.empty()) details.push_back({said("details", "to"), to});
    std::ranges::move(details_of_totals(scene, {range, state.measured_y, state.measured_to_y}),
                      std::back_inserter(details));
    return details;
}

std::optional<SpanRef> neighbour_of(const Scene& scene, std::optional<SpanRef> ref, int by) {
    if (!scene.main || scene.main.document->devices.empty()) return std::nullopt;
    if (!ref) {
        const Bars& bars = scene.main.document->devices.front().work;
        if (bars.empty()) return std::nullopt;
        return SpanRef{by > 0 ? bars.front().span : bars.back().span, Side::A};
    }
    const TimelineDocument& document = *scene.layer(ref->side).document;
    const Device* device = document.device_of(document.span(ref->index));
    const auto neighbour = [&](const Bars& bars) -> std::optional<SpanRef> {
        const auto at = std::ranges::find(bars, ref->index, &Bar::span) - bars.begin();
        if (at == std::ssize(bars) || at + by < 0 || at + by >= std::ssize(bars))
            return std::nullopt;
        return SpanRef{bars[at + by].span, ref->side};
    };
    if (const auto found = neighbour(device->work)) return found;
    for (const Stream& stream : device->streams)
        if (const auto found = neighbour(stream.bars)) return found;
    return std::nullopt;
}

}  // namespace debubble::gui
