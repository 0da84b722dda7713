#include <algorithm>

#include <QMouseEvent>

#include "gui/viewmodel/timeline/playing.h"
#include "gui/widgets/timeline/timeline_view.h"

/// Playing a step.
namespace debubble::gui {
namespace {

constexpr int kFrame = 33;  ///< milliseconds

}  // namespace

void TimelineView::toggle_play() {
    if (!scene_.main) return;
    if (play_timer_.isActive()) return play_timer_.stop();
    const TimeRange whole = scene_.range();
    const bool over = scene_.cursor && *scene_.cursor + Duration{1} >= whole.end;
    if (!scene_.cursor || over) scene_.cursor = state_.axis.shown().begin;
    played_at_.start();
    play_timer_.start(kFrame);
    viewport()->update();
}

/// Advances the cursor by one frame; the view follows it page by page.
void TimelineView::play_on() {
    if (!scene_.main || !scene_.cursor) return play_timer_.stop();
    const double wall_s = double(played_at_.restart()) / 1e3;
    const auto next = advanced(state_.axis, *scene_.cursor, wall_s);
    scene_.cursor = next.value_or(scene_.range().end - Duration{1});
    if (!next) play_timer_.stop();
    const double x = state_.axis.x(*scene_.cursor);
    if (x < 0 || x > state_.axis.width()) state_.axis.pan(x);
    changed();
}

void TimelineView::scrub_to(QPointF at) {
    const TimeRange whole = scene_.range();
    scene_.cursor = std::clamp(state_.axis.at(axis_x(at)), whole.begin, whole.end - Duration{1});
    changed();
}

void TimelineView::stop_playing() {
    play_timer_.stop();
    scene_.cursor.reset();
}

}  // namespace debubble::gui
