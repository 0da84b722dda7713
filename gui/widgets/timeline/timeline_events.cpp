#include <algorithm>
#include <cmath>

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QScrollBar>
#include <QToolTip>

#include "gui/viewmodel/timeline/measure.h"
#include "gui/widgets/timeline/timeline_view.h"

/// The events of keys and pointer.
namespace debubble::gui {
namespace {

constexpr double kPanStep = 0.12;  ///< share of the width
constexpr double kDragStart = 4;   ///< pixels

QString html_of(const std::vector<Detail>& details) {
    QString html = QStringLiteral("<table cellspacing='0'>");
    for (const Detail& detail : details)
        html += QStringLiteral("<tr><td style='color:gray'>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(QString::fromStdString(detail.name).toHtmlEscaped(),
                         QString::fromStdString(detail.value).toHtmlEscaped());
    return html + QStringLiteral("</table>");
}

}  // namespace

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
        case Qt::Key_N: return event->modifiers() & Qt::ShiftModifier ? previous_hit() : next_hit();
        case Qt::Key_Period: return next_op();
        case Qt::Key_Comma: return previous_op();
        case Qt::Key_B:
            return event->modifiers() & Qt::ShiftModifier ? previous_bubble() : next_bubble();
        case Qt::Key_Return:
        case Qt::Key_Enter: return go_to_ending_action();
        case Qt::Key_M: return mark();
        case Qt::Key_Space: return toggle_play();
        case Qt::Key_C: return toggle_critical_path();
        case Qt::Key_Escape: return clear();
        default: return QAbstractScrollArea::keyPressEvent(event);
    }
}

Hit TimelineView::hit(QPointF at) const {
    if (!geometry().lanes().contains(at)) return {};
    const int y = geometry().row_y(scene_.layout, static_cast<int>(at.y()), state_.scroll);
    return hit_test(scene_, state_.axis, axis_x(at), y);
}

bool TimelineView::is_in_gutter(QPointF at) const {
    return at.x() < geometry().gutter() && at.y() >= geometry().top();
}

const Row* TimelineView::row_at(QPointF at) const {
    return scene_.layout.row_at(
        geometry().row_y(scene_.layout, static_cast<int>(at.y()), state_.scroll));
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
    } else if (geometry().ruler().contains(pressed_at_)) {
        drag_ = Drag::Cursor;
        scrub_to(pressed_at_);
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
        const auto [begin, end] = std::minmax({snapped(pressed_at_), snapped(pointer_)});
        state_.measured = TimeRange{begin, end};
        state_.measured_y =
            geometry().row_y(scene_.layout, static_cast<int>(pressed_at_.y()), state_.scroll);
        state_.measured_to_y =
            geometry().row_y(scene_.layout, static_cast<int>(pointer_.y()), state_.scroll);
        Q_EMIT range_measured(*state_.measured);
        changed();
    } else if (drag_ == Drag::Pan) {
        state_.axis.pan(dragged_to_.x() - pointer_.x());
        verticalScrollBar()->setValue(state_.scroll +
                                      static_cast<int>(dragged_to_.y() - pointer_.y()));
        changed();
    } else if (drag_ == Drag::Map) {
        pan_to_map(pointer_.x());
    } else if (drag_ == Drag::Cursor) {
        scrub_to(pointer_);
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
    if (is_in_gutter(at)) {
        const Row* row = row_at(at);
        if (const Row* run = row == nullptr ? nullptr : scene_.layout.run_of(*row))
            toggle(state_.rows.unfolded, scene_.main.document->devices[run->device].rank.index);
        else if (row != nullptr)
            toggle(state_.rows.streams, scene_.main.document->devices[row->device].rank.index);
        return;
    }
    const Hit found = hit(at);
    if (found.part == Hit::Part::Peak || found.part == Hit::Part::Memory) {
        const Device& device = *scene_.device(*found.row, found.side);
        if (found.part == Hit::Part::Peak && device.peak_span) {
            select(SpanRef{*device.peak_span, found.side});
            show_selected();
        }
        if (found.part == Hit::Part::Peak && found.side == Side::A)
            Q_EMIT peak_clicked(device.rank.index);
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

/// By key, the menu is that of the selection's row.
void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
    const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
    const int y = geometry().row_y(scene_.layout, event->y(), state_.scroll);
    const Row* row = nullptr;
    if (scene_.main && by_key)
        row = row_of(scene_, state_.selection);
    else if (scene_.main && event->y() >= geometry().top())
        row = scene_.layout.row_at(y);
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
    if (document.link_table) add(tr("Show its links"), state_.rows.link_use);
    add(tr("Keep at the top"), state_.rows.pinned);
    add(tr("Make thin"), state_.rows.collapsed);
    QAction* folds = menu.addAction(tr("Fold similar ranks"), this, &TimelineView::toggle_folding);
    folds->setCheckable(true);
    folds->setChecked(state_.rows.fold_alike && state_.rows.unfolded.empty());
    if (state_.rows.only)
        menu.addAction(tr("Show every rank"), this, &TimelineView::show_every_rank);
    menu.addAction(tr("Tensors at its peak"), this, [this, rank] { Q_EMIT peak_clicked(rank); });
    const auto replicas = std::ranges::count(document.devices, Rank{rank}, &Device::rank);
    if (replicas > 1) add(tr("Show all %1 replicas").arg(replicas), state_.rows.replicas);
    const QPoint name(0, geometry().y_of(*row, row->whole.y, state_.scroll));
    menu.exec(by_key ? viewport()->mapToGlobal(name) : event->globalPos());
}

QString TimelineView::tool_tip(QPointF at) const {
    const Hit found = hit(at);
    if (found.selected != Selection{}) return html_of(details_of(scene_, found.selected));
    if (found.row != nullptr && found.row->links_of) {
        const Layer& layer = scene_.layer(found.side);
        const Device* device = scene_.device(*found.row, found.side);
        const auto of =
            picture::same_class(*scene_.main.document, *found.row->links_of, *layer.document);
        if (device == nullptr || !of) return {};
        return html_of(details_of_links(*layer.document, *device, *of,
                                        state_.axis.at(axis_x(at)) - layer.shift));
    }
    if (found.part == Hit::Part::Memory) {
        const Layer& layer = scene_.layer(found.side);
        return html_of(details_of_memory(*layer.document, *scene_.device(*found.row, found.side),
                                         state_.axis.at(axis_x(at)) - layer.shift));
    }
    if (found.part == Hit::Part::Peak)
        return html_of(details_of_peak(*scene_.layer(found.side).document,
                                       *scene_.device(*found.row, found.side)));
    if (is_in_gutter(at)) {
        const Row* row = row_at(at);
        return row == nullptr ? QString() : html_of(details_of_step(scene_, *row));
    }
    if (geometry().map().contains(at))
        return QString::fromStdString(idle_summary(*scene_.main.document));
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

/// The instant of the nearest edge of a bar within a few pixels, on the row under the pointer.
Instant TimelineView::snapped(QPointF at) const {
    const int y = geometry().row_y(scene_.layout, static_cast<int>(at.y()), state_.scroll);
    return snap(scene_, state_.axis, axis_x(at), y);
}

}  // namespace debubble::gui
