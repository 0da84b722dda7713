#include "gui/viewmodel/timeline/overlays.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "gui/viewmodel/timeline/hit.h"
#include "gui/viewmodel/timeline/pairing.h"
#include "gui/viewmodel/timeline/playing.h"
#include "gui/viewmodel/timeline/waits.h"
#include "text/wording.h"
#include "trace/picture/document/dependencies.h"
#include "trace/picture/shapes/page_shapes.h"
#include "trace/picture/svg_text.h"

namespace debubble::gui {
namespace {

constexpr std::size_t kMostOutlines = 600;  ///< more would cover the bars that they mark
constexpr std::size_t kMostHitsOnMap = 4000;
constexpr double kPathWidth = 1.5;

class Overlays {
public:
    Overlays(const Scene& scene, const ViewState& state, const View& view)
        : scene_(scene), state_(state), view_(view) {}

    Shapes all() {
        ghost_end();
        highlighted_bubbles();
        critical_path();
        hits();
        selection();
        marks();
        measured();
        return std::move(out_);
    }

private:
    Rect rect(const Row& row, Band band, TimeRange range) const {
        const double left = view_.x(range.begin);
        return {left, view_.y(row, band.y), view_.x(range.end) - left, double(band.height)};
    }
    std::optional<Rect> rect(const SpanRef& ref) const {
        const auto place = place_of(scene_, ref);
        if (!place) return std::nullopt;
        return rect(*place->row, place->band, place->range);
    }
    std::optional<Rect> rect(const Selection& selection) const {
        if (const auto* span = std::get_if<SpanRef>(&selection)) return rect(*span);
        const auto range = range_of(scene_, selection);
        const Row* row = row_of(scene_, selection);
        if (!range || row == nullptr) return std::nullopt;
        return rect(*row, row->bars, *range);
    }
    Rgb accent() const { return view_.ground().accent; }
    static Point middle_of(double x, Rect r) { return {x, r.y + r.height / 2}; }

    void vertical_line(Instant at, Dash dash, Rgb ink) {
        const double x = std::floor(view_.x(at)) + 0.5;
        const Rect lanes = view_.geometry.lanes();
        out_.emplace_back(Line{{x, lanes.y}, {x, lanes.bottom()}, ink, 1, dash});
    }

    /// Marks the end of the previous plan.
    void ghost_end() {
        if (scene_.ghost())
            vertical_line(scene_.other.range().end, Dash::Dotted, view_.ground().faint_text);
    }

    void outline(Rect box, double width) {
        box.width = std::max(box.width, 2.0);
        const double out = width / 2;
        out_.emplace_back(
            Frame{{box.x - out, box.y - out, box.width + 2 * out, box.height + 2 * out},
                  accent(),
                  width});
    }

    /// Draws an arrow from the end of a span to the start of a span that depends on it.
    void arrow(const SpanRef& from, const SpanRef& to, Rgb ink) {
        const auto source = rect(from);
        const auto target = rect(to);
        if (source && target)
            out_.emplace_back(
                Arrow{middle_of(source->right(), *source), middle_of(target->x, *target), ink});
    }

    /// Draws an arrow from the visible part of a bubble to the action that ends it.
    void arrow_from_bubble(const BubbleRef& ref) {
        const TimelineDocument& document = *scene_.main.document;
        const auto end = action_that_ends(document, document.bubble(ref.index));
        const auto bubble = rect(Selection(ref));
        const auto action = end ? rect(SpanRef{*end}) : std::nullopt;
        if (!action || !bubble) return;
        const Rect lanes = view_.geometry.lanes();
        const double left = std::clamp(bubble->x, lanes.x, lanes.right());
        const double right = std::clamp(bubble->right(), lanes.x, lanes.right());
        const Point to = middle_of(action->x, *action);
        // From the edge on that side, so that it does not cross the words.
        const double from = std::clamp(to.y, bubble->y, bubble->bottom());
        out_.emplace_back(Arrow{{(left + right) / 2, from}, to, accent()});
    }

    void selection() {
        if (const auto* bubble = std::get_if<BubbleRef>(&state_.selection); bubble && scene_.main)
            arrow_from_bubble(*bubble);
        if (const auto box = rect(state_.selection)) outline(*box, 2);
        const auto* ref = std::get_if<SpanRef>(&state_.selection);
        if (ref == nullptr || !scene_.layer(ref->side)) return;
        // The same action on the other side of a comparison.
        const auto partner = partner_of(scene_, *ref);
        const auto box = partner ? rect(*partner) : std::nullopt;
        if (box) outline(*box, 2);
        const TimelineDocument& document = *scene_.layer(ref->side).document;
        for (const std::uint32_t needed : direct_needs(document, ref->index))
            arrow({needed, ref->side}, *ref, view_.ground().text);
        for (const std::uint32_t user : direct_users(document, ref->index))
            arrow(*ref, {user, ref->side}, accent());
    }

    void hits() {
        std::size_t drawn = 0;
        const TimeRange shown = state_.axis.shown();
        for (const Selection& hit : scene_.hits) {
            const auto range = range_of(scene_, hit);
            if (!range || !range->meets(shown)) continue;
            if (const auto box = rect(hit)) outline(*box, 1);
            if (++drawn == kMostOutlines) return;
        }
    }

    /// Outlines the bubbles of the highlighted part, whose bars stand out already.
    void highlighted_bubbles() {
        if (!scene_.lit.any() || !scene_.main) return;
        const std::vector<Bubble>& bubbles = scene_.main.document->statistics.bubbles;
        std::size_t drawn = 0;
        for (std::size_t i = 0; i < bubbles.size() && drawn < kMostOutlines; ++i) {
            if (!scene_.lit.causes[bubbles[i].cause]) continue;
            const Selection bubble = BubbleRef{static_cast<std::uint32_t>(i)};
            if (!range_of(scene_, bubble)->meets(state_.axis.shown())) continue;
            const auto box = rect(bubble);
            if (!box) continue;
            out_.emplace_back(Area{*box, accent(), 0.25});
            outline(*box, 2);
            ++drawn;
        }
    }

    /// Joins bars of the path on different ranks by lines. The bars stand out already.
    void critical_path() {
        if (!state_.critical_path) return;
        const TimelineDocument& document = *scene_.main.document;
        const TimeRange shown = state_.axis.shown();
        const std::vector<std::size_t>& path = document.statistics.critical_path;
        const auto in_sight = [&](std::size_t i) {
            return scene_.main.on_axis(document.span(i)).meets(shown);
        };
        if (static_cast<std::size_t>(std::ranges::count_if(path, in_sight)) > kMostOutlines) return;
        for (std::size_t i = 1; i < path.size(); ++i) {
            if (!in_sight(path[i]) && !in_sight(path[i - 1])) continue;
            const auto from = rect(SpanRef{static_cast<std::uint32_t>(path[i - 1])});
            const auto to = rect(SpanRef{static_cast<std::uint32_t>(path[i])});
            if (!from || !to) continue;
            const Point start = middle_of(from->right(), *from);
            const Point end = middle_of(to->x, *to);
            if (start.y != end.y) out_.emplace_back(Line{start, end, accent(), kPathWidth});
        }
    }

    void marks() {
        for (const Instant mark : state_.marks) vertical_line(mark, Dash::Dashed, accent());
    }

    void measured() {
        if (!state_.measured) return;
        constexpr double kTint = 0.1;
        constexpr double kSize = 12;
        const TimeRange range = *state_.measured;
        const Rect lanes = view_.geometry.lanes();
        const double left = view_.x(range.begin);
        const double right = view_.x(range.end);
        out_.emplace_back(Area{{left, lanes.y, right - left, lanes.height}, accent(), kTint});
        for (const Row& row : scene_.layout.rows) {  // rows whose totals are shown
            const auto [top, bottom] = std::minmax(state_.measured_y, state_.measured_to_y);
            if (row.whole.bottom() <= top || row.whole.y > bottom) continue;
            const Rect of = rect(row, row.whole, range);
            out_.emplace_back(Area{of, accent(), kTint});
        }
        for (const double x : {left, right})
            out_.emplace_back(Line{{x, lanes.y}, {x, lanes.bottom()}, accent()});
        std::string words = text::time_text(range.length());
        const double width = svg::text_width(words, kSize) + 8;
        const double most = std::max(lanes.x, lanes.right() - width);
        const Rect plate{std::clamp((left + right - width) / 2, lanes.x, most), lanes.y + 3, width,
                         18};
        out_.emplace_back(Area{plate, accent()});
        out_.emplace_back(Text{{plate.x + width / 2, plate.y + plate.height / 2},
                               std::move(words),
                               kSize,
                               ink_on(accent()),
                               Anchor::Middle});
    }

    const Scene& scene_;
    const ViewState& state_;
    const View& view_;
    Shapes out_;
};

}  // namespace

Sheets overlays(const Scene& scene, const ViewState& state, const View& view) {
    Sheet sheet{view.geometry.lanes(), {}, Overlays(scene, state, view).all()};
    std::ranges::move(playing_shapes(scene, view), std::back_inserter(sheet.shapes));
    return {std::move(sheet)};
}

Sheets marks_above(const Scene& scene, const ViewState& state, const View& view) {
    const Rgb accent = view.ground().accent;
    Sheet map{view.geometry.map(), {}, {}};
    const TimeAxis whole(view.axis.whole(), map.clip.width);
    const std::size_t step = scene.hits.size() / kMostHitsOnMap + 1;
    for (std::size_t i = 0; i < scene.hits.size(); i += step) {
        const auto range = range_of(scene, scene.hits[i]);
        if (!range) continue;
        const double x = std::floor(map.clip.x + whole.x(range->begin)) + 0.5;
        map.shapes.emplace_back(
            Line{{x, map.clip.bottom() - 6}, {x, map.clip.bottom() - 1}, accent});
    }
    Sheet ruler{view.geometry.ruler(), {}, {}};
    for (const Instant mark : state.marks) {
        const double x = view.x(mark);
        const double top = ruler.clip.y + 2;
        ruler.shapes.emplace_back(
            Polygon{{{x - 5, top}, {x + 5, top}, {x, ruler.clip.bottom()}}, accent});
    }
    return {std::move(map), std::move(ruler)};
}

Sheets picture_of(const Scene& scene, const ViewState& state, const View& view) {
    Sheets sheets = page_ground(view);
    if (!scene.main) return sheets;
    for (Sheets part :
         {row_sheets(scene, view), memory_marks(scene, view), overlays(scene, state, view),
          surroundings(scene, view), marks_above(scene, state, view)})
        std::ranges::move(part, std::back_inserter(sheets));
    return sheets;
}

}  // namespace debubble::gui
