#include <algorithm>

#include <QScrollBar>

#include "gui/viewmodel/timeline/measure.h"
#include "gui/viewmodel/timeline/search.h"
#include "gui/viewmodel/timeline/waits.h"
#include "gui/widgets/timeline/timeline_view.h"

/// The selection, and navigation from one selection to another.
namespace debubble::gui {

void TimelineView::search(const QString& query) {
    if (!scene_.main) return;
    SearchResult result;
    if (!query.trimmed().isEmpty())
        result = gui::search(*scene_.main.document, query.trimmed().toStdString());
    scene_.hits = std::move(result.hits);
    if (!scene_.hits.empty()) {
        select(scene_.hits.front());
        show_selected();
    }
    Q_EMIT searched(static_cast<qulonglong>(scene_.hits.size()),
                    QString::fromStdString(result.mistake));
    changed();
}

void TimelineView::step_hit(int by) {
    if (scene_.hits.empty()) return;
    const auto count = std::ssize(scene_.hits);
    const auto at = std::ranges::find(scene_.hits, state_.selection) - scene_.hits.begin();
    const auto next = at == count ? 0 : (at + by + count) % count;
    select(scene_.hits[next]);
    show_selected();
}

void TimelineView::mark() {
    if (!scene_.main) return;
    const Instant at = snapped(
        geometry().lanes().contains(pointer_) ? pointer_ : QPointF(geometry().lanes().center()));
    const auto place = std::ranges::lower_bound(state_.marks, at);
    if (place != state_.marks.end() && *place == at)
        state_.marks.erase(place);
    else
        state_.marks.insert(place, at);
    changed();
}

/// Clears the cursor, or else the selection, or else the marks.
void TimelineView::clear() {
    if (scene_.cursor) {
        stop_playing();
        return changed();
    }
    const bool chosen = state_.measured || state_.selection != Selection{};
    if (!chosen) state_.marks.clear();
    state_.measured.reset();
    select({});
}

void TimelineView::select(const Selection& selection) {
    state_.selection = selection;
    if (scene_.comparison && state_.comparison.alignment == Alignment::SelectedOp) align_layers();
    Q_EMIT span_selected(state_.selection);
    changed();
}

void TimelineView::show_action(const SpanRef& action) {
    const auto range = range_of(scene_, action);
    if (!range) return;
    state_.measured.reset();
    select(action);
    const Duration half = state_.axis.shown().length() / 2;
    const Instant middle = range->begin + range->length() / 2;
    state_.axis.show({middle - half, middle + half});
    show_selected();
}

void TimelineView::step_op(int by) {
    const auto* ref = std::get_if<SpanRef>(&state_.selection);
    if (!scene_.main) return;
    const auto next = neighbour_of(scene_, ref != nullptr ? std::optional(*ref) : std::nullopt, by);
    if (!next) return;
    select(*next);
    show_selected();
}

void TimelineView::step_bubble(int by) {
    const auto next = neighbour_bubble(scene_, state_.selection, by);
    if (!next) return;
    state_.measured.reset();
    select(*next);
    show_selected();
}

void TimelineView::go_to_ending_action() {
    const auto* bubble = std::get_if<BubbleRef>(&state_.selection);
    if (bubble == nullptr || !scene_.main) return;
    const TimelineDocument& document = *scene_.main.document;
    if (const auto end = action_that_ends(document, document.bubble(bubble->index))) {
        state_.measured.reset();
        select(SpanRef{*end});
        show_selected();
    }
}

/// Moves the view as little as possible to make the selection visible.
void TimelineView::show_selected() {
    const auto range = range_of(scene_, state_.selection);
    if (!range) return;
    const double left = state_.axis.x(range->begin);
    const double right = state_.axis.x(range->end);
    if (left < 0 || right > state_.axis.width())
        state_.axis.pan((left + right - state_.axis.width()) / 2);
    if (const Row* row = row_of(scene_, state_.selection); row != nullptr && !row->pinned) {
        const int top = row->whole.y - scene_.layout.pinned_height;
        const int bottom = row->whole.bottom() - geometry().lanes_height();
        verticalScrollBar()->setValue(std::clamp(state_.scroll, bottom, std::max(top, bottom)));
    }
    changed();
}

void TimelineView::show_ranks(int first, int last) {
    if (!scene_.main) return;
    const std::vector<Device>& devices = scene_.main.document->devices;
    const bool all = !devices.empty() && first <= devices.front().rank.index &&
                     last >= devices.back().rank.index;
    state_.rows.only.reset();
    if (!all) state_.rows.only = {first, last};
    for (int rank = first; rank <= last; ++rank) state_.rows.collapsed.erase(rank);
    verticalScrollBar()->setValue(0);
    lay_out_again();
    changed();
}

void TimelineView::toggle_link_use() {
    state_.rows.all_link_use = !state_.rows.all_link_use;
    lay_out_again();
    changed();
}

void TimelineView::show_every_rank() {
    state_.rows.only.reset();
    lay_out_again();
    changed();
}

/// Folds opened runs as well.
void TimelineView::toggle_folding() {
    state_.rows.fold_alike = !state_.rows.fold_alike || !state_.rows.unfolded.empty();
    state_.rows.unfolded.clear();
    lay_out_again();
    changed();
}

}  // namespace debubble::gui
