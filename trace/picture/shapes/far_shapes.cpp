#include <algorithm>
#include <cmath>
#include <ranges>

#include "trace/picture/shapes/row_shapes.h"

/// The far view of a lane. Bars narrower than pixels would mix to a colour of no kind of work, so
/// each column shows the shares of the kinds of work, stacked.
namespace debubble::picture {
namespace {

constexpr double kFarBar = 3;         ///< mean width below which bars are not drawn singly
constexpr double kLeastGap = 5;       ///< width of the narrowest bubble that bounds an average
constexpr double kBarsAveraged = 10;  ///< enough that their order makes no pattern in the columns

Paint paint_of_kind(WorkKind kind) {
    switch (kind) {
        case WorkKind::Exposed: return Paint::Collective;
        case WorkKind::Weight: return Paint::Weight;
        case WorkKind::Backward: return Paint::Backward;
        case WorkKind::Forward: return Paint::Forward;
        case WorkKind::Optimizer: break;
    }
    return Paint::Optimizer;
}

/// A kind of work with its upper edge in each column.
struct StackedKind {
    explicit StackedKind(std::size_t of) : kind(of) {}
    std::size_t kind = 0;
    std::vector<float> tops;
};

/// The ranges between wide bubbles, within which columns are averaged.
std::vector<TimeRange> stretches_of(const TimelineDocument& document, const Device& device,
                                    const TimeAxis& axis) {
    std::vector<TimeRange> gaps;
    for (const std::uint32_t i : wide_bubbles(document, device, axis, kLeastGap))
        gaps.push_back({document.bubble(i).begin, document.bubble(i).end});
    std::ranges::sort(gaps, {}, &TimeRange::begin);
    std::vector<TimeRange> stretches;
    Instant from = document.range.begin;
    for (const TimeRange& gap : gaps) {
        if (gap.begin > from) stretches.push_back({from, gap.begin});
        from = std::max(from, gap.end);
    }
    if (document.range.end > from) stretches.push_back({from, document.range.end});
    return stretches;
}

}  // namespace

bool RowShapes::is_far(const Lane& lane) const {
    if (view_.colour_by != ColourBy::Kind || !lane.layer.colouring->exposed) return false;
    const double mean = mean_width(lane.device.work, lane.axis);
    return mean > 0 && mean < kFarBar;
}

void RowShapes::work_stacked(const Lane& lane) {
    const TimelineDocument& document = *lane.layer.document;
    box({0, double(lane.band.y), width_, double(lane.band.height)}, view_.ground().lane);
    box(rect(document.range, lane.axis, lane.band), paint(Paint::Bubble, view_.theme));
    const double bar_ns = mean_width(lane.device.work, lane.axis) * lane.axis.ns_per_pixel();
    const Duration half{static_cast<Duration::rep>(bar_ns * kBarsAveraged / 2)};
    const std::vector<TimeRange> stretches = stretches_of(document, lane.device, lane.axis);
    const TimeAxis axis = lane.axis.scaled(view_.means.columns);
    std::vector<StackedKind> kinds;
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
        if (lane.device.sums.all(static_cast<WorkKind>(kind)) > 0)
            kinds.emplace_back(kind).tops.reserve(std::lround(axis.width()));
    WorkSums::Walk left(lane.device.sums);
    WorkSums::Walk right(lane.device.sums);
    auto stretch = stretches.begin();
    for_each_column(axis, [&](int, TimeRange column) {
        while (stretch != stretches.end() && stretch->end <= column.begin) ++stretch;
        TimeRange window = column;
        if (stretch != stretches.end() && stretch->begin < column.end)
            window = {std::max(stretch->begin, column.begin - half),
                      std::min(stretch->end, column.end + half)};
        const WorkArea before = left.until(window.begin);
        const WorkArea after = right.until(window.end);
        const double length =
            static_cast<double>(std::max<std::int64_t>((window.end - window.begin).count(), 1));
        double y = lane.band.bottom();
        for (auto& [kind, tops] : kinds) {
            y -= lane.band.height * static_cast<double>(after[kind] - before[kind]) / length;
            tops.push_back(static_cast<float>(std::max<double>(y, lane.band.y)));
        }
    });
    Steps steps{{0, double(lane.band.y), width_, double(lane.band.height)}, {}};
    for (auto& [kind, tops] : kinds | std::views::reverse)
        steps.levels.push_back(
            {std::move(tops), paint(paint_of_kind(static_cast<WorkKind>(kind)), view_.theme)});
    out_.emplace_back(std::move(steps));
}

}  // namespace debubble::picture
