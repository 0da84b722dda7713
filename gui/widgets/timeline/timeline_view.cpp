#include "gui/widgets/timeline/timeline_view.h"

#include <algorithm>
#include <cmath>

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include "gui/viewmodel/timeline/measure.h"

namespace debubble::gui {
namespace {

constexpr double kZoomStep = 1.35;
constexpr double kPanStep = 0.12;  ///< of the width
constexpr double kDragStart = 4;   ///< pixels
constexpr double kGhostFade = 0.62;

Theme theme_of(const QPalette& palette) {
    return palette.color(QPalette::Window).lightness() < 128 ? Theme::Dark : Theme::Light;
}

QString html_of(const std::vector<Detail>& details) {
    QString html = QStringLiteral("<table cellspacing='0'>");
    for (const Detail& detail : details)
        html += QStringLiteral("<tr><td style='color:gray'>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(QString::fromStdString(detail.name).toHtmlEscaped(),
                         QString::fromStdString(detail.value).toHtmlEscaped());
    return html + QStringLiteral("</table>");
}

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // the map shows where the view is
    setAccessibleName(tr("Timeline"));
    setMinimumSize(360, 140);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    look_.theme = theme_of(palette());
    look_.font = font();
}

void TimelineView::set_document(Document document) {
    scene_.main = {std::move(document), nullptr, {}};
    scene_.other = scene_.comparison ? Layer{} : scene_.other;
    scene_.comparison = false;
    state_.selection = {};
    state_.measured.reset();
    place_layers();
    colour_again();
    lay_out_again();
    changed();
}

void TimelineView::set_ghost(Document document) {
    scene_.other = {std::move(document), nullptr, {}};
    scene_.comparison = false;
    place_layers();
    colour_again();
    lay_out_again();
    changed();
}

/// Where the other layer begins, and what the axis can show at all.
void TimelineView::place_layers() {
    if (!scene_.main) return;
    if (scene_.other)
        scene_.other.shift = scene_.main.range().begin - scene_.other.document->range.begin;
    state_.axis.resize(geometry().lanes_width());
    state_.axis.set_whole(scene_.range());
}

void TimelineView::colour_again() {
    if (!scene_.main) return;
    ColourScheme scheme{look_.theme, state_.colour_by, nullptr, nullptr, 0};
    if (state_.critical_path) {
        auto meant = std::make_shared<std::vector<bool>>(scene_.main.document->trace.spans.size());
        for (const std::size_t i : scene_.main.document->statistics.critical_path)
            (*meant)[i] = true;
        scheme.meant = std::move(meant);
    }
    scene_.main.colouring = colour(*scene_.main.document, scheme);
    if (!scene_.other) return;
    scheme.meant = nullptr;
    scheme.faded = scene_.comparison ? 0 : kGhostFade;
    scene_.other.colouring = colour(*scene_.other.document, scheme);
}

void TimelineView::lay_out_again() {
    if (!scene_.main) return;
    const bool memory = std::ranges::any_of(scene_.main.document->devices,
                                            [](const Device& d) { return !d.memory.empty(); });
    const RowNeeds needs{memory, scene_.ghost(), scene_.comparison};
    const int height = geometry().lanes_height();
    scene_.layout = lay_out(*scene_.main.document, state_.rows, needs, height);
    verticalScrollBar()->setRange(0, std::max(0, scene_.layout.height - height));
    verticalScrollBar()->setPageStep(height);
    verticalScrollBar()->setSingleStep(24);
    state_.scroll = verticalScrollBar()->value();
}

void TimelineView::changed() {
    viewport()->update();
    Q_EMIT state_changed();
}

void TimelineView::set_state(ViewState state) {
    const bool other_colours =
        state.colour_by != state_.colour_by || state.critical_path != state_.critical_path;
    state_ = std::move(state);
    place_layers();
    if (other_colours) colour_again();
    const int scroll = state_.scroll;
    lay_out_again();
    verticalScrollBar()->setValue(scroll);
    changed();
}

std::vector<Detail> TimelineView::details() const {
    if (const auto* span = std::get_if<SpanRef>(&state_.selection))
        return details_of(*scene_.layer(span->side).document, span->index);
    if (const auto* bubble = std::get_if<BubbleRef>(&state_.selection))
        return details_of(*scene_.main.document, scene_.main.document->bubble(bubble->index));
    return {};
}

QImage TimelineView::picture(QSize size, double ratio) {
    QImage image(size * ratio, QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    const ViewState before = state_;
    const RowLayout layout = scene_.layout;
    const Geometry drawn{size};
    state_.axis.resize(drawn.lanes_width());
    if (scene_.main) {
        const RowNeeds needs{!scene_.main.document->trace.memory.empty(), scene_.ghost(),
                             scene_.comparison};
        scene_.layout = lay_out(*scene_.main.document, state_.rows, needs, drawn.lanes_height());
    }
    paint_frame(image, scene_, state_, look_);
    state_ = before;
    scene_.layout = layout;
    return image;
}

// ---- what is drawn -----------------------------------------------------------

void TimelineView::paintEvent(QPaintEvent*) {
    const double ratio = viewport()->devicePixelRatioF();
    const QSize size = viewport()->size() * ratio;
    if (image_.size() != size || image_.devicePixelRatio() != ratio) {
        image_ = QImage(size, QImage::Format_RGB32);
        image_.setDevicePixelRatio(ratio);
    }
    paint_frame(image_, scene_, state_, look_);
    QPainter painter(viewport());
    painter.drawImage(0, 0, image_);
}

void TimelineView::resizeEvent(QResizeEvent*) {
    state_.axis.resize(geometry().lanes_width());
    lay_out_again();
}

void TimelineView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) {
        look_.theme = theme_of(palette());
        colour_again();
    }
    if (event->type() == QEvent::FontChange) {
        look_.font = font();
        look_.label_fonts.clear();
    }
    viewport()->update();
    QAbstractScrollArea::changeEvent(event);
}

void TimelineView::scrollContentsBy(int, int) {
    state_.scroll = verticalScrollBar()->value();
    changed();
}

// ---- keys and slots ----------------------------------------------------------

void TimelineView::keyPressEvent(QKeyEvent* event) {
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))
        return QAbstractScrollArea::keyPressEvent(event);
    const double step = kPanStep * state_.axis.width();
    switch (event->key()) {
        case Qt::Key_W: return zoom(kZoomStep);
        case Qt::Key_S: return zoom(1 / kZoomStep);
        case Qt::Key_Left:
        case Qt::Key_A: state_.axis.pan(-step); return changed();
        case Qt::Key_Right:
        case Qt::Key_D: state_.axis.pan(step); return changed();
        case Qt::Key_F: return focus_selection();
        case Qt::Key_Home: return fit();
        case Qt::Key_Period: return next_op();
        case Qt::Key_Comma: return previous_op();
        case Qt::Key_M: return mark();
        case Qt::Key_C: return toggle_critical_path();
        case Qt::Key_Escape: return clear();
        default: return QAbstractScrollArea::keyPressEvent(event);
    }
}

/// About the pointer where it is over the lanes, else about the middle.
void TimelineView::zoom(double factor) {
    const bool pointed = viewport()->underMouse() && geometry().lanes().contains(pointer_);
    state_.axis.zoom(factor, pointed ? axis_x(pointer_) : state_.axis.width() / 2);
    changed();
}

void TimelineView::zoom_in() {
    zoom(kZoomStep);
}
void TimelineView::zoom_out() {
    zoom(1 / kZoomStep);
}

void TimelineView::fit() {
    state_.axis.fit();
    changed();
}

void TimelineView::focus_selection() {
    std::optional<TimeRange> range = state_.measured;
    if (const auto* span = std::get_if<SpanRef>(&state_.selection)) {
        if (const auto place = place_of(scene_, *span)) range = place->range;
    } else if (const auto* bubble = std::get_if<BubbleRef>(&state_.selection)) {
        const Bubble& b = scene_.main.document->bubble(bubble->index);
        range = TimeRange{b.begin + scene_.main.shift, b.end + scene_.main.shift};
    }
    if (!range) return fit();
    // First into the middle; if it is there already, as large as the window.
    const TimeAxis before = state_.axis;
    const Duration half = state_.axis.shown().length() / 2;
    const Instant middle = range->begin + range->length() / 2;
    state_.axis.show({middle - half, middle + half});
    const double moved = before.x(state_.axis.shown().begin);
    if (std::abs(moved) < 1)
        state_.axis.show({range->begin - range->length() / 4, range->end + range->length() / 4});
    changed();
}

void TimelineView::toggle_critical_path() {
    state_.critical_path = !state_.critical_path;
    colour_again();
    changed();
}

void TimelineView::set_colour_by(ColourBy by) {
    state_.colour_by = by;
    colour_again();
    changed();
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

/// First what is chosen, then the marks.
void TimelineView::clear() {
    const bool chosen = state_.measured || state_.selection != Selection{};
    if (!chosen) state_.marks.clear();
    state_.measured.reset();
    select({});
}

void TimelineView::select(const Selection& selection) {
    state_.selection = selection;
    Q_EMIT span_selected(state_.selection);
    changed();
}

void TimelineView::step_op(int by) {
    const auto* ref = std::get_if<SpanRef>(&state_.selection);
    if (!scene_.main) return;
    const auto next = neighbour_of(scene_, ref != nullptr ? std::optional(*ref) : std::nullopt, by);
    if (!next) return;
    select(*next);
    show_selected();
}

/// Moves the view as little as it takes to bring the selection into it.
void TimelineView::show_selected() {
    const auto* ref = std::get_if<SpanRef>(&state_.selection);
    const auto place = ref == nullptr ? std::nullopt : place_of(scene_, *ref);
    if (!place) return;
    const double left = state_.axis.x(place->range.begin);
    const double right = state_.axis.x(place->range.end);
    if (left < 0 || right > state_.axis.width())
        state_.axis.pan((left + right - state_.axis.width()) / 2);
    const Row& row = *place->row;
    if (!row.pinned) {
        const int top = row.whole.y - scene_.layout.pinned_height;
        const int bottom = row.whole.bottom() - geometry().lanes_height();
        verticalScrollBar()->setValue(std::clamp(state_.scroll, bottom, std::max(top, bottom)));
    }
    changed();
}

// ---- pointer -----------------------------------------------------------------

Hit TimelineView::hit(QPointF at) const {
    if (!geometry().lanes().contains(at)) return {};
    const int y = Geometry::row_y(scene_.layout, static_cast<int>(at.y()), state_.scroll);
    return hit_test(scene_, state_.axis, axis_x(at), y);
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    const QPoint turned = event->angleDelta();
    if (event->modifiers() & Qt::ControlModifier) {
        state_.axis.zoom(std::pow(1.2, turned.y() / 120.0), axis_x(event->position()));
        return changed();
    }
    const bool sideways = (event->modifiers() & Qt::ShiftModifier) != 0;
    const int along = sideways ? turned.y() : turned.x();
    if (along != 0) {
        state_.axis.pan(-along / 120.0 * 60);
        return changed();
    }
    QAbstractScrollArea::wheelEvent(event);
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !scene_.main) return;
    pressed_at_ = dragged_to_ = event->position();
    const bool shift = (event->modifiers() & Qt::ShiftModifier) != 0;
    if (geometry().map().contains(pressed_at_)) {
        drag_ = Drag::Map;
        pan_to_map(pressed_at_.x());
    } else {
        drag_ = shift ? Drag::Pan : Drag::Pending;
    }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    pointer_ = event->position();
    const bool far = (pointer_ - pressed_at_).manhattanLength() >= kDragStart;
    if (drag_ == Drag::Pending && far && geometry().lanes().contains(pressed_at_))
        drag_ = Drag::Measure;
    if (drag_ == Drag::Measure) {
        const auto [begin, end] = std::minmax(snapped(pressed_at_), snapped(pointer_));
        state_.measured = TimeRange{begin, end};
        Q_EMIT range_measured(*state_.measured);
        changed();
    } else if (drag_ == Drag::Pan) {
        state_.axis.pan(dragged_to_.x() - pointer_.x());
        verticalScrollBar()->setValue(state_.scroll +
                                      static_cast<int>(dragged_to_.y() - pointer_.y()));
        changed();
    } else if (drag_ == Drag::Map) {
        pan_to_map(pointer_.x());
    }
    dragged_to_ = pointer_;
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (drag_ == Drag::Pending) click(event->position());
    drag_ = Drag::None;
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent*) {
    focus_selection();
    focus_selection();
}

void TimelineView::pan_to_map(double x) {
    const TimeAxis whole(scene_.range(), geometry().map().width());
    const Instant middle = whole.at(x - geometry().map().left());
    const Duration half = state_.axis.shown().length() / 2;
    state_.axis.show({middle - half, middle + half});
    changed();
}

void TimelineView::click(QPointF at) {
    const bool in_gutter = at.x() < Geometry::kGutter && at.y() >= Geometry::kTop;
    if (in_gutter) {
        const int y = Geometry::row_y(scene_.layout, static_cast<int>(at.y()), state_.scroll);
        if (const Row* row = scene_.layout.row_at(y))
            toggle(state_.rows.streams, scene_.main.document->devices[row->device].rank.index);
        return;
    }
    const Hit found = hit(at);
    if (found.part == Hit::Part::Peak || found.part == Hit::Part::Memory) {
        // The dot, and all of its lane, lead to what ran at the peak.
        const Device& device = scene_.main.document->devices[found.row->device];
        if (found.part == Hit::Part::Peak && device.peak_span) {
            select(SpanRef{*device.peak_span, Side::A});
            show_selected();
        }
        return;
    }
    state_.measured.reset();
    select(found.selected);
}

void TimelineView::toggle(std::set<int>& ranks, int rank) {
    if (ranks.erase(rank) == 0) ranks.insert(rank);
    lay_out_again();
    changed();
}

void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
    const int y = Geometry::row_y(scene_.layout, event->y(), state_.scroll);
    const Row* row =
        scene_.main && event->y() >= Geometry::kTop ? scene_.layout.row_at(y) : nullptr;
    if (row == nullptr) return;
    const TimelineDocument& document = *scene_.main.document;
    const int rank = document.devices[row->device].rank.index;
    QMenu menu(this);
    const auto add = [&](const QString& words, std::set<int>& ranks) {
        QAction* action =
            menu.addAction(words, this, [this, &ranks, rank] { toggle(ranks, rank); });
        action->setCheckable(true);
        action->setChecked(ranks.contains(rank));
    };
    add(tr("Show its streams"), state_.rows.streams);
    add(tr("Keep at the top"), state_.rows.pinned);
    add(tr("Make thin"), state_.rows.collapsed);
    const auto replicas = std::ranges::count(document.devices, Rank{rank}, &Device::rank);
    if (replicas > 1) add(tr("Show all %1 replicas").arg(replicas), state_.rows.replicas);
    menu.exec(event->globalPos());
}

QString TimelineView::tool_tip(QPointF at) const {
    const Hit found = hit(at);
    const TimelineDocument& document = *scene_.main.document;
    if (const auto* span = std::get_if<SpanRef>(&found.selected))
        return html_of(details_of(*scene_.layer(span->side).document, span->index));
    if (const auto* bubble = std::get_if<BubbleRef>(&found.selected))
        return html_of(details_of(document, document.bubble(bubble->index)));
    if (found.part == Hit::Part::Memory || found.part == Hit::Part::Peak)
        return html_of(details_of_peak(document, document.devices[found.row->device]));
    if (geometry().map().contains(at)) return QString::fromStdString(idle_summary(document));
    return {};
}

bool TimelineView::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !scene_.main)
        return QAbstractScrollArea::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString words = tool_tip(help->pos());
    if (words.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), words, viewport());
    return true;
}

/// The nearest edge of a bar within a few pixels, on the row under the pointer.
Instant TimelineView::snapped(QPointF at) const {
    const int y = Geometry::row_y(scene_.layout, static_cast<int>(at.y()), state_.scroll);
    return snap(scene_, state_.axis, axis_x(at), y);
}

}  // namespace debubble::gui
