#include <algorithm>
#include <cmath>

#include "trace/picture/document/exposed_bars.h"
#include "trace/picture/shapes/row_shapes.h"
#include "trace/picture/wording.h"

/// Exposed communication in the lane of bars: a bar's lower part, as high as its exposed share, and
/// whole intervals between bars.
namespace debubble::picture {

bool RowShapes::shows_exposed(const Lane& lane) const {
    return lane.layer.colouring->exposed && lane.device.sums.all(WorkKind::Exposed) > 0;
}

void RowShapes::exposed_columns(const Lane& lane) {
    if (!shows_exposed(lane)) return;
    const TimeAxis axis = lane.axis.scaled(view_.means.columns);
    std::vector<float> shares;
    shares.reserve(std::lround(axis.width()));
    WorkSums::Walk walk(lane.device.sums);
    std::int64_t before = walk.until(axis.shown().begin)[WorkKind::Exposed];
    bool any = false;
    for_each_column(axis, [&](int, TimeRange column) {
        const std::int64_t after = walk.until(column.end)[WorkKind::Exposed];
        shares.push_back(static_cast<float>(after - before) /
                         static_cast<float>(column.length().count()));
        any = any || after > before;
        before = after;
    });
    if (!any) return;
    const Rgb fill = paint(Paint::Collective, view_.theme);
    const std::vector<bool> halves = columns_of_pairs(lane, axis);
    // A pair has two bars, one above the other, each with a lower part.
    const auto draw = [&](Band band, bool of_pairs) {
        Steps steps{{0, double(band.y), width_, double(band.height)}, {{{}, fill}}};
        for (std::size_t x = 0; x < shares.size(); ++x) {
            const bool is_pair = !halves.empty() && halves[x];
            steps.levels[0].tops.push_back(static_cast<float>(band.bottom()) -
                                           static_cast<float>(band.height) *
                                               (is_pair == of_pairs ? shares[x] : 0));
        }
        out_.emplace_back(std::move(steps));
    };
    draw(lane.band, false);
    if (halves.empty()) return;
    draw(upper_half(lane.band), true);
    draw(lower_half(lane.band), true);
}

/// Whether the middle of each column is in a pair; empty for a device without pairs.
std::vector<bool> RowShapes::columns_of_pairs(const Lane& lane, const TimeAxis& axis) const {
    std::vector<bool> pairs;
    if (!lane.layer.colours_of(lane.device).lower_half) return pairs;
    for_each_column(axis, [&](int, TimeRange column) {
        const picture::Bar* bar =
            bar_at(lane.device.work, column.begin + (column.end - column.begin) / 2);
        pairs.push_back(bar != nullptr && std::holds_alternative<Overlap>(
                                              lane.layer.document->span(bar->span).action));
    });
    return pairs;
}

void RowShapes::exposed_part(const Lane& lane, const Bar& bar, Band band) {
    if (!lane.layer.colouring->exposed) return;
    Rect area = rect(bar.range(), lane.axis, band);
    const double height = area.height * exposed_share(lane.layer.document->span(bar.span));
    if (height < kLeastExposed) return;
    if (area.width >= kLeastParted) area.width -= kGap;
    area = {area.x, area.bottom() - height, area.width, height};
    out_.emplace_back(
        Area{.rect = area, .fill = paint(Paint::Collective, view_.theme), .passive = true});
}

void RowShapes::exposed_between(const Lane& lane) {
    if (!lane.layer.colouring->exposed) return;
    const Bars& between = lane.device.between;
    const auto [first, last] = bars_in(between, lane.axis.shown());
    for (std::size_t i = first; i < last; ++i)
        bar(lane, between[i], paint(Paint::Collective, view_.theme), lane.band);
}

}  // namespace debubble::picture
