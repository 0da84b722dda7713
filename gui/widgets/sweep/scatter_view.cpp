#include "gui/widgets/sweep/scatter_view.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "gui/widgets/colours.h"

namespace debubble::gui {
namespace {

constexpr double kReach = 12;     ///< reach of the pointer in pixels
constexpr double kDragStart = 4;  ///< pixels

/// A tick distance of 1, 2 or 5 times a power of ten, for about five ticks in the range.
double tick_distance(double length) {
    const double rough = length / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (power * factor >= rough) return power * factor;
    return power * 10;
}

QString number(double value) {
    const double size = std::abs(value);
    if (size >= 1e9) return QString::number(value / 1e9, 'g', 4) + " G";
    if (size >= 1e6) return QString::number(value / 1e6, 'g', 4) + " M";
    if (size >= 1e4) return QString::number(value / 1e3, 'g', 4) + " k";
    return QString::number(value, 'g', 4);
}

}  // namespace

ScatterView::ScatterView(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Plans of the sweep"));
    setMinimumSize(220, 140);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
}

void ScatterView::show_points(std::vector<PlotPoint> points, Axis x, Axis y) {
    const bool enlarged = !shows_all() && x.title == x_.title && y.title == y_.title;
    points_ = std::move(points);
    x_ = std::move(x);
    y_ = std::move(y);
    for (PlotPoint& point : points_) {
        point.x /= x_.unit;
        point.y /= y_.unit;
    }
    frontier_ = gui::frontier(points_, x_.better, y_.better);
    // Plans that do not fit may need many times the limit. Only those near it are in view.
    constexpr double kBeyondLimit = 1.25;
    const auto range_of = [&](const Axis& axis, auto figure) {
        if (points_.empty()) return PlotRange{};
        auto [low, high] = std::ranges::minmax(points_ | std::views::transform(figure));
        if (axis.limit) {
            const double limit = *axis.limit / axis.unit;
            high = std::max(std::min(high, kBeyondLimit * limit), limit);
            low = std::min(low, limit);
        }
        const double margin =
            high > low ? 0.06 * (high - low) : std::max(std::abs(high), 1.0) * 0.1;
        return PlotRange{low - margin, high + margin};
    };
    x_whole_ = range_of(x_, [](const PlotPoint& p) { return p.x; });
    y_whole_ = range_of(y_, [](const PlotPoint& p) { return p.y; });
    if (!enlarged) return show_all();
    show_ranges(stretch_between(x_range_.low, x_range_.high, x_whole_),
                stretch_between(y_range_.low, y_range_.high, y_whole_));
}

void ScatterView::select_row(std::optional<std::size_t> row) {
    selected_ = row;
    update();
}

void ScatterView::mark_row(std::optional<std::size_t> row) {
    marked_ = row;
    update();
}

void ScatterView::colour_rows(std::vector<QColor> colours) {
    colours_ = std::move(colours);
    layer_ = {};
    update();
}

void ScatterView::set_stale(bool stale) {
    if (stale_ == stale) return;
    stale_ = stale;
    layer_ = {};
    update();
}

QRectF ScatterView::plot() const {
    const QFontMetricsF metrics(font());
    return QRectF(rect()).adjusted(metrics.horizontalAdvance("0.0000 M") + 8, metrics.height() + 4,
                                   -10, -2 * metrics.height() - 8);
}

QPointF ScatterView::place(const PlotPoint& point) const {
    const QRectF area = plot();
    return {area.left() + area.width() * x_range_.share_of(point.x),
            area.bottom() - area.height() * y_range_.share_of(point.y)};
}

void ScatterView::show_ranges(PlotRange x, PlotRange y) {
    x_range_ = x;
    y_range_ = y;
    layer_ = {};
    update();
}

void ScatterView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (points_.empty()) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect(), Qt::AlignCenter, tr("Plans appear here as they are predicted"));
        return;
    }
    painter.drawImage(0, 0, plan_layer());
    painter.setClipRect(plot().adjusted(-8, -8, 8, 8));
    paint_frontier(painter);
    paint_drag(painter);
}

/// Paints the layer again if points, size or colours have changed. The chosen point is painted over
/// it.
const QImage& ScatterView::plan_layer() {
    const double ratio = devicePixelRatioF();
    const QSize pixels = size() * ratio;
    if (layer_.size() == pixels && layer_palette_ == palette()) return layer_;
    layer_ = QImage(pixels, QImage::Format_RGB32);
    layer_.setDevicePixelRatio(ratio);
    layer_.fill(palette().color(QPalette::Base));
    layer_palette_ = palette();
    QPainter painter(&layer_);
    painter.setFont(font());
    paint_axes(painter);
    paint_limit(painter);
    painter.setClipRect(plot().adjusted(-3, -3, 3, 3));
    if (stale_) painter.setOpacity(0.35);
    paint_points(painter);
    return layer_;
}

void ScatterView::paint_axes(QPainter& painter) const {
    const QRectF area = plot();
    const QColor ink = palette().color(QPalette::Text);
    const QColor grid = between(palette().color(QPalette::Base), ink, 0.12);
    const QFontMetricsF metrics(font());
    const double dx = tick_distance(x_range_.high - x_range_.low);
    for (double x = std::ceil(x_range_.low / dx) * dx; x <= x_range_.high; x += dx) {
        const double at = place({0, x, y_range_.low, false}).x();
        painter.setPen(grid);
        painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
        painter.setPen(ink);
        painter.drawText(QRectF(at - 50, area.bottom() + 2, 100, metrics.height()), Qt::AlignCenter,
                         number(std::abs(x) < dx / 1e6 ? 0 : x));
    }
    const double dy = tick_distance(y_range_.high - y_range_.low);
    for (double y = std::ceil(y_range_.low / dy) * dy; y <= y_range_.high; y += dy) {
        const double at = place({0, x_range_.low, y, false}).y();
        painter.setPen(grid);
        painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
        painter.setPen(ink);
        painter.drawText(QRectF(0, at - metrics.height() / 2, area.left() - 5, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, number(std::abs(y) < dy / 1e6 ? 0 : y));
    }
    painter.setPen(ink);
    painter.drawText(
        QRectF(area.left(), height() - metrics.height() - 3, area.width(), metrics.height()),
        Qt::AlignCenter, x_.title);
    painter.drawText(QRectF(4, 1, width() - 8, metrics.height()), Qt::AlignLeft, y_.title);
}

/// The limits of axes, with their words.
void ScatterView::paint_limit(QPainter& painter) const {
    const QRectF area = plot();
    painter.setPen(QPen(warning_colour(palette()), 1, Qt::DashLine));
    if (x_.limit) {
        const double x = place({0, *x_.limit / x_.unit, y_range_.low, false}).x();
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        painter.drawText(QRectF(x - 104, area.top(), 100, 20), Qt::AlignRight, tr("limit"));
    }
    if (y_.limit) {
        const double y = place({0, x_range_.low, *y_.limit / y_.unit, false}).y();
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        painter.drawText(QRectF(area.left() + 4, y - 20, 100, 20), Qt::AlignLeft, tr("limit"));
    }
}

/// Points are squares of whole pixels without antialiasing: ten thousand take a few milliseconds.
void ScatterView::paint_points(QPainter& painter) const {
    QList<QRectF> fitting;
    QList<QLineF> crosses;
    for (const PlotPoint& point : points_) {
        const QPointF at = place(point);
        if (point.fits) {
            fitting << QRectF(at - QPointF(2, 2), QSizeF(4, 4));
        } else {
            crosses << QLineF(at - QPointF(2.5, 2.5), at + QPointF(2.5, 2.5))
                    << QLineF(at + QPointF(-2.5, 2.5), at + QPointF(2.5, -2.5));
        }
    }
    painter.setPen(warning_colour(palette()));
    painter.drawLines(crosses);
    painter.setPen(Qt::NoPen);
    painter.setBrush(is_dark(palette()) ? QColor(0x8AA8E8) : QColor(0x2F6FB5));
    if (colours_.empty()) return painter.drawRects(fitting);
    for (const PlotPoint& point : points_) {
        if (!point.fits) continue;
        painter.setBrush(point.row < colours_.size() ? colours_[point.row] : QColor());
        painter.drawRect(QRectF(place(point) - QPointF(2.5, 2.5), QSizeF(5, 5)));
    }
}

void ScatterView::paint_frontier(QPainter& painter) const {
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor accent = is_dark(palette()) ? QColor(0xFFC44D) : QColor(0x8A2A6B);
    QPolygonF line;
    for (const std::size_t i : frontier_) line << place(points_[i]);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(accent, 1.5));
    painter.drawPolyline(line);
    for (const QPointF& at : line) painter.drawEllipse(at, 4, 4);
    for (const PlotPoint& point : points_) {
        if (marked_ == point.row) {  // the open plan: a cross through it
            const QPointF at = place(point);
            painter.setPen(QPen(palette().color(QPalette::Text), 1.5));
            painter.drawLine(at - QPointF(9, 0), at + QPointF(9, 0));
            painter.drawLine(at - QPointF(0, 9), at + QPointF(0, 9));
        }
        if (selected_ != point.row) continue;
        painter.setPen(QPen(palette().color(QPalette::Text), 2));
        painter.drawEllipse(place(point), 7, 7);
    }
}

std::optional<std::size_t> ScatterView::point_at(QPointF at) const {
    std::optional<std::size_t> nearest;
    double least = kReach * kReach;
    if (!plot().adjusted(-kReach, -kReach, kReach, kReach).contains(at)) return nearest;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const QPointF away = place(points_[i]) - at;
        const double distance = QPointF::dotProduct(away, away);
        if (distance > least) continue;
        least = distance;
        nearest = i;
    }
    return nearest;
}

/// The rectangle into which the drag under way zooms.
void ScatterView::paint_drag(QPainter& painter) const {
    if (drag_ != Drag::Zoom) return;
    painter.setRenderHint(QPainter::Antialiasing, false);
    QColor fill = palette().color(QPalette::Highlight);
    painter.setPen(fill);
    fill.setAlphaF(0.15F);
    painter.setBrush(fill);
    painter.drawRect(QRectF(pressed_at_, dragged_to_).normalized());
}

void ScatterView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    pressed_at_ = dragged_to_ = event->position();
    drag_ = event->modifiers() & Qt::ShiftModifier ? Drag::Move : Drag::Pending;
}

void ScatterView::mouseMoveEvent(QMouseEvent* event) {
    const QPointF to = event->position();
    if (drag_ == Drag::Pending && (to - pressed_at_).manhattanLength() >= kDragStart)
        drag_ = Drag::Zoom;
    if (drag_ == Drag::Move)
        show_ranges(moved(x_range_, x_whole_, x_at(dragged_to_.x()) - x_at(to.x())),
                    moved(y_range_, y_whole_, y_at(dragged_to_.y()) - y_at(to.y())));
    dragged_to_ = to;
    if (drag_ == Drag::Zoom) update();
}

void ScatterView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const Drag drag = std::exchange(drag_, Drag::None);
    const QPointF to = event->position();
    if (drag == Drag::Zoom)
        return show_ranges(stretch_between(x_at(pressed_at_.x()), x_at(to.x()), x_whole_),
                           stretch_between(y_at(pressed_at_.y()), y_at(to.y()), y_whole_));
    const auto found = drag == Drag::Pending ? point_at(to) : std::nullopt;
    if (found) Q_EMIT chosen(points_[*found].row);
}

void ScatterView::mouseDoubleClickEvent(QMouseEvent*) {
    show_all();
}

void ScatterView::wheelEvent(QWheelEvent* event) {
    if (points_.empty()) return QWidget::wheelEvent(event);
    const double factor = std::pow(1.2, event->angleDelta().y() / 120.0);
    const QPointF at = event->position();
    const QRectF area = plot();
    PlotRange x = x_range_;
    PlotRange y = y_range_;
    if (at.x() >= area.left()) x = zoomed(x, x_whole_, factor, x_at(at.x()));
    if (at.y() <= area.bottom()) y = zoomed(y, y_whole_, factor, y_at(at.y()));
    show_ranges(x, y);
    event->accept();
}

void ScatterView::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Home) return QWidget::keyPressEvent(event);
    show_all();
}

bool ScatterView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto found = point_at(help->pos());
    if (!found) {
        QToolTip::hideText();
        return true;
    }
    const PlotPoint& point = points_[*found];
    QString text =
        QString("%1: %2\n%3: %4").arg(x_.title, number(point.x), y_.title, number(point.y));
    if (words_of_row) text = words_of_row(point.row) + '\n' + text;
    if (!point.fits) text += '\n' + tr("out of memory");
    if (marked_ == point.row) text += '\n' + tr("the open plan");
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

}  // namespace debubble::gui
