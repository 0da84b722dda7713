#include "gui/widgets/timeline/overlays.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QPainterPath>

#include "gui/viewmodel/timeline/dependencies.h"
#include "gui/viewmodel/timeline/pairing.h"
#include "gui/viewmodel/timeline/wording.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

constexpr std::size_t kMostOutlines = 600;  ///< more would cover the bars that they mark

void paint_limit(const Frame& frame, const Row& row, Band lane, const MemoryScale& scale) {
    if (!scale.limit || lane.height == 0) return;
    const double y = std::floor(frame.y(row, scale.y(lane, *scale.limit))) + 0.5;
    frame.painter.setPen(QPen(colour(frame.ground().warning), 1, Qt::DashLine));
    frame.painter.drawLine(QPointF(Geometry::kGutter, y), QPointF(frame.geometry.size.width(), y));
}

void paint_peak(const Frame& frame, const Row& row, Side side, const MemoryScale& scale) {
    const auto peak = peak_point(frame.scene, row, side, frame.state.axis);
    if (!peak) return;
    const Bytes held = total(frame.scene.device(row, side)->peak->held);
    const bool too_much = scale.limit && held > *scale.limit;
    const Ground& ground = frame.ground();
    QPainter& painter = frame.painter;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colour(ground.window), 1));
    painter.setBrush(colour(too_much ? ground.warning : ground.text));
    painter.drawEllipse(
        QPointF(Geometry::kGutter + peak->x, frame.y(row, static_cast<int>(peak->y))), 3.5, 3.5);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void paint_memory_marks(const Frame& frame) {
    const MemoryScale scale = frame.scene.memory_scale();
    frame.for_each_row([&](const Row& row) {
        if (row.heat) return;
        paint_limit(frame, row, row.memory, scale);
        paint_limit(frame, row, row.other_memory, scale);
        for (const Side side : {Side::A, Side::B}) paint_peak(frame, row, side, scale);
    });
}

/// Marks the end of the plan before.
void paint_ghost_end(const Frame& frame) {
    if (!frame.scene.ghost()) return;
    const double x = frame.x(frame.scene.other.range().end);
    frame.painter.setPen(QPen(colour(frame.ground().faint_text), 1, Qt::DotLine));
    frame.painter.drawLine(QPointF(x, Geometry::kTop), QPointF(x, frame.geometry.size.height()));
}

void outline(const Frame& frame, QRectF box, double width) {
    box.setWidth(std::max(box.width(), 2.0));
    frame.painter.setPen(QPen(colour(frame.ground().accent), width));
    frame.painter.setBrush(Qt::NoBrush);
    frame.painter.drawRect(box.adjusted(-0.5, -0.5, 0.5, -0.5));
}

std::optional<QRectF> rect_of(const Frame& frame, const Selection& selection) {
    if (const auto* span = std::get_if<SpanRef>(&selection)) return frame.rect(*span);
    const auto range = range_of(frame.scene, selection);
    const Row* row = row_of(frame.scene, selection);
    if (!range || row == nullptr) return std::nullopt;
    return frame.rect(*row, row->bars, *range);
}

/// Draws an arrow from the end of a span to the start of one that needs it.
void paint_arrow(const Frame& frame, const SpanRef& from, const SpanRef& to, const QColor& pen) {
    const auto source = frame.rect(from);
    const auto target = frame.rect(to);
    if (!source || !target) return;
    const QPointF start(source->right(), source->center().y());
    const QPointF end(target->left(), target->center().y());
    const double bend = std::clamp(std::abs(end.x() - start.x()) / 2, 12.0, 80.0);
    QPainterPath path(start);
    path.cubicTo(start + QPointF(bend, 0), end - QPointF(bend, 0), end);
    frame.painter.setBrush(Qt::NoBrush);
    frame.painter.setPen(QPen(pen, 1.5));
    frame.painter.drawPath(path);
    frame.painter.setPen(Qt::NoPen);
    frame.painter.setBrush(pen);
    frame.painter.drawPolygon(QPolygonF({end, end + QPointF(-7, -3.5), end + QPointF(-7, 3.5)}));
}

/// Marks the same action on the other side of a comparison.
void paint_partner(const Frame& frame, const SpanRef& ref) {
    const auto partner = partner_of(frame.scene, ref);
    const auto box = partner ? frame.rect(*partner) : std::nullopt;
    if (box) outline(frame, *box, 2);
}

void paint_selection(const Frame& frame) {
    const auto box = rect_of(frame, frame.state.selection);
    if (box) outline(frame, *box, 2);
    const auto* ref = std::get_if<SpanRef>(&frame.state.selection);
    if (ref == nullptr || !frame.scene.layer(ref->side)) return;
    paint_partner(frame, *ref);
    const TimelineDocument& document = *frame.scene.layer(ref->side).document;
    frame.painter.setRenderHint(QPainter::Antialiasing);
    for (const std::uint32_t needed : direct_needs(document, ref->index))
        paint_arrow(frame, {needed, ref->side}, *ref, colour(frame.ground().text));
    for (const std::uint32_t user : direct_users(document, ref->index))
        paint_arrow(frame, *ref, {user, ref->side}, colour(frame.ground().accent));
    frame.painter.setRenderHint(QPainter::Antialiasing, false);
}

void paint_hits(const Frame& frame) {
    std::size_t drawn = 0;
    const TimeRange shown = frame.state.axis.shown();
    for (const Selection& hit : frame.scene.hits) {
        const auto range = range_of(frame.scene, hit);
        if (!range || !range->meets(shown)) continue;
        if (const auto box = rect_of(frame, hit)) outline(frame, *box, 1);
        if (++drawn == kMostOutlines) return;
    }
}

/// The bars of the path stand out already; lines join those on different ranks.
void paint_critical_path(const Frame& frame) {
    if (!frame.state.critical_path) return;
    const TimelineDocument& document = *frame.scene.main.document;
    const TimeRange shown = frame.state.axis.shown();
    const std::vector<std::size_t>& path = document.statistics.critical_path;
    const auto in_sight = [&](std::size_t i) {
        return frame.scene.main.on_axis(document.span(i)).meets(shown);
    };
    if (static_cast<std::size_t>(std::ranges::count_if(path, in_sight)) > kMostOutlines) return;
    frame.painter.setRenderHint(QPainter::Antialiasing);
    frame.painter.setPen(QPen(colour(frame.ground().accent), 1.5));
    for (std::size_t i = 1; i < path.size(); ++i) {
        if (!in_sight(path[i]) && !in_sight(path[i - 1])) continue;
        const auto from = frame.rect(SpanRef{static_cast<std::uint32_t>(path[i - 1])});
        const auto to = frame.rect(SpanRef{static_cast<std::uint32_t>(path[i])});
        if (from && to && from->center().y() != to->center().y())
            frame.painter.drawLine(QPointF(from->right(), from->center().y()),
                                   QPointF(to->left(), to->center().y()));
    }
    frame.painter.setRenderHint(QPainter::Antialiasing, false);
}

void paint_measured(const Frame& frame) {
    if (!frame.state.measured) return;
    const TimeRange range = *frame.state.measured;
    const QRectF lanes = frame.geometry.lanes();
    const QRectF box(QPointF(frame.x(range.begin), lanes.top()),
                     QPointF(frame.x(range.end), lanes.bottom()));
    const QColor accent = colour(frame.ground().accent);
    frame.painter.fillRect(box, colour(frame.ground().accent, 26));
    frame.painter.setPen(accent);
    frame.painter.drawLine(box.topLeft(), box.bottomLeft());
    frame.painter.drawLine(box.topRight(), box.bottomRight());

    const QString words = QString::fromStdString(text::time_text(range.length()));
    frame.painter.setFont(frame.look.font);
    const double width = QFontMetricsF(frame.look.font).horizontalAdvance(words) + 12;
    const double least = lanes.left();
    const double left =
        std::clamp(box.center().x() - width / 2, least, std::max(least, lanes.right() - width));
    const QRectF plate(left, lanes.top() + 3, width, 18);
    frame.painter.fillRect(plate, accent);
    frame.painter.setPen(colour(ink_on(frame.ground().accent)));
    frame.painter.drawText(plate, Qt::AlignCenter, words);
}

void paint_marks(const Frame& frame) {
    frame.painter.setPen(QPen(colour(frame.ground().accent), 1, Qt::DashLine));
    for (const Instant mark : frame.state.marks) {
        const double x = std::floor(frame.x(mark)) + 0.5;
        frame.painter.drawLine(QPointF(x, Geometry::kTop),
                               QPointF(x, frame.geometry.size.height()));
    }
}

}  // namespace

void paint_overlays(const Frame& frame) {
    paint_memory_marks(frame);
    frame.painter.setClipRect(frame.geometry.lanes());
    paint_ghost_end(frame);
    paint_critical_path(frame);
    paint_hits(frame);
    paint_selection(frame);
    paint_marks(frame);
    paint_measured(frame);
    frame.painter.setClipping(false);
}

}  // namespace debubble::gui
