#include "gui/widgets/whole_run/nodes_view.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "gui/widgets/colours.h"
#include "text/wording.h"
#include "trace/picture/colours.h"

namespace debubble::gui {
namespace {

constexpr double kNear = 14;  ///< reach of the pointer in pixels
constexpr int kTicks = 6;

/// A tick distance of 1, 2 or 5 times a power of ten, for at most kTicks up to `most`.
double round_tick(double most) {
    const double power = std::pow(10, std::floor(std::log10(most / kTicks)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (power * factor * kTicks >= most) return power * factor;
    return power * 10;
}

QString short_number(double value) {
    if (value >= 1e9) return QString::number(value / 1e9, 'g', 3) + " G";
    if (value >= 1e6) return QString::number(value / 1e6, 'g', 3) + " M";
    if (value >= 1e4) return QString::number(value / 1e3, 'g', 3) + " k";
    return QString::number(value, 'g', 4);
}

QColor days_ink(const QPalette& palette) {
    return is_dark(palette) ? QColor(0x8AA8E8) : QColor(0x2F6FB5);
}
QColor cost_ink(const QPalette& palette) {
    return is_dark(palette) ? QColor(0xFFC44D) : QColor(0x8A2A6B);
}

}  // namespace

NodesView::NodesView(QWidget* parent) : QWidget(parent) {
    setObjectName("run-nodes");
    setAccessibleName(tr("Days and cost over the number of GPUs"));
    setFocusPolicy(Qt::StrongFocus);
}

void NodesView::show_points(std::vector<RunOnNodes> points, int present, const QString& currency) {
    points_ = std::move(points);
    present_ = present;
    currency_ = currency;
    double days = 0;
    double cost = 0;
    for (const RunOnNodes& point : points_) {
        if (std::isfinite(point.days)) days = std::max(days, point.days);
        if (std::isfinite(point.days_p95)) days = std::max(days, point.days_p95);
        if (point.cost && std::isfinite(*point.cost)) cost = std::max(cost, *point.cost);
    }
    const auto axis_to = [](double most) {
        if (most <= 0) return Axis{};
        const double tick = round_tick(most);
        return Axis{std::ceil(most * 1.02 / tick) * tick, tick};
    };
    days_ = axis_to(days);
    cost_ = axis_to(cost);
    chosen_ = 0;
    for (std::size_t i = 0; i < points_.size(); ++i)
        if (points_[i].nodes == present_) chosen_ = i;
    say_chosen();
    update();
}

bool NodesView::has_cost() const {
    return !points_.empty() && points_.front().cost.has_value();
}

QRectF NodesView::plot() const {
    const QFontMetricsF metrics(font());
    const double side = metrics.horizontalAdvance("000.0 M") + 8;
    return QRectF(rect()).adjusted(side, 2.4 * metrics.height(), has_cost() ? -side : -16,
                                   -2 * metrics.height() - 8);
}

/// GPUs on a logarithmic axis with a margin at the first and the last number.
double NodesView::x_of(int gpus) const {
    const QRectF area = plot().adjusted(16, 0, -16, 0);
    const double low = std::log(points_.front().gpus);
    const double high = std::log(points_.back().gpus);
    if (high <= low) return area.center().x();
    return area.left() + area.width() * (std::log(gpus) - low) / (high - low);
}

double NodesView::y_of(double figure, const Axis& axis) const {
    const QRectF area = plot();
    return area.bottom() - area.height() * std::min(figure / axis.top, 1.0);
}

QPointF NodesView::place(std::size_t point) const {
    return {x_of(points_[point].gpus), y_of(points_[point].days, days_)};
}

QString NodesView::words_of(const RunOnNodes& point) const {
    QString words =
        tr("%1 nodes, %2 GPUs: %3 d (P5 %4, P95 %5), %6 of the time is useful")
            .arg(QString::number(point.nodes), QString::number(point.gpus),
                 QString::number(point.days, 'f', 1), QString::number(point.days_p5, 'f', 1),
                 QString::number(point.days_p95, 'f', 1),
                 QString::fromStdString(text::percent(point.goodput)));
    if (point.cost) words += QString(", %1 %2").arg(short_number(*point.cost), currency_);
    return words;
}

void NodesView::say_chosen() {
    setAccessibleDescription(chosen_ < points_.size() ? words_of(points_[chosen_]) : QString());
}

void NodesView::paint_axes(QPainter& painter) const {
    const QRectF area = plot();
    const QColor ink = palette().color(QPalette::Text);
    const QColor grid = between(palette().color(QPalette::Base), ink, 0.12);
    const QFontMetricsF metrics(font());
    const double line = metrics.height();
    const auto axis_labels = [&](const Axis& axis, bool left, const QColor& colour) {
        for (double figure = 0; figure <= axis.top * 1.0001; figure += axis.tick) {
            const double y = y_of(figure, axis);
            if (left) {
                painter.setPen(grid);
                painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
            }
            painter.setPen(colour);
            const QRectF words = left ? QRectF(0, y - line / 2, area.left() - 5, line)
                                      : QRectF(area.right() + 5, y - line / 2, width(), line);
            painter.drawText(words, (left ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
                             short_number(figure));
        }
    };
    axis_labels(days_, true, days_ink(palette()));
    if (has_cost()) axis_labels(cost_, false, cost_ink(palette()));
    painter.setPen(ink);
    double free_from = 0;  // words that would touch the previous ones are left out
    for (const RunOnNodes& point : points_) {
        const QString words = QString::number(point.gpus);
        const double half = metrics.horizontalAdvance(words) / 2;
        const double x = x_of(point.gpus);
        painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 4));
        if (x - half < free_from) continue;
        painter.drawText(QPointF(x - half, area.bottom() + metrics.ascent() + 5), words);
        free_from = x + half + 8;
    }
    painter.drawText(QRectF(area.left(), height() - line - 3, area.width(), line), Qt::AlignCenter,
                     tr("GPUs that are paid for, spares too"));
    painter.setPen(days_ink(palette()));
    painter.drawText(QRectF(6, 2, width() / 2.0, line), Qt::AlignLeft, tr("days, P5 to P95"));
    painter.setPen(cost_ink(palette()));
    if (has_cost())
        painter.drawText(QRectF(width() / 2.0, 2, width() / 2.0 - 6, line), Qt::AlignRight,
                         tr("cost in %1").arg(currency_));
}

void NodesView::paint_days(QPainter& painter) const {
    QPolygonF band;
    QPolygonF line;
    for (const RunOnNodes& point : points_) {
        if (!std::isfinite(point.days)) continue;
        line << QPointF(x_of(point.gpus), y_of(point.days, days_));
        band << QPointF(x_of(point.gpus), y_of(point.days_p95, days_));
    }
    for (auto point = points_.rbegin(); point != points_.rend(); ++point)
        if (std::isfinite(point->days))
            band << QPointF(x_of(point->gpus), y_of(point->days_p5, days_));
    QColor fill = days_ink(palette());
    fill.setAlphaF(0.25F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawPolygon(band);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(days_ink(palette()), 1.8));
    painter.drawPolyline(line);
    painter.setBrush(palette().color(QPalette::Base));
    for (std::size_t i = 0; i < points_.size(); ++i) {
        if (!std::isfinite(points_[i].days)) continue;
        const bool here = points_[i].nodes == present_;
        painter.setBrush(here ? days_ink(palette()) : palette().color(QPalette::Base));
        painter.drawEllipse(place(i), here ? 5 : 3.5, here ? 5 : 3.5);
    }
}

void NodesView::paint_cost(QPainter& painter) const {
    if (!has_cost()) return;
    QPolygonF line;
    for (const RunOnNodes& point : points_)
        if (point.cost && std::isfinite(*point.cost))
            line << QPointF(x_of(point.gpus), y_of(*point.cost, cost_));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(cost_ink(palette()), 1.5, Qt::DashLine));
    painter.drawPolyline(line);
}

void NodesView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (points_.empty()) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
                         tr("The run is predicted on other numbers of GPUs ..."));
        return;
    }
    if (!isEnabled()) painter.setOpacity(0.35);  // of the previous plan
    paint_axes(painter);
    painter.setRenderHint(QPainter::Antialiasing);
    paint_cost(painter);
    paint_days(painter);
    if (!hasFocus() || chosen_ >= points_.size() || !std::isfinite(points_[chosen_].days)) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
    painter.drawEllipse(place(chosen_), 8, 8);
    painter.setPen(palette().color(QPalette::Text));
    const double line = fontMetrics().height();
    painter.drawText(
        QRectF(6, 2 + line, width() - 12, line), Qt::AlignLeft,
        fontMetrics().elidedText(words_of(points_[chosen_]), Qt::ElideRight, width() - 12));
}

std::optional<std::size_t> NodesView::point_at(QPointF at) const {
    std::optional<std::size_t> nearest;
    double least = kNear;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const double away = std::abs(x_of(points_[i].gpus) - at.x());
        if (away > least || !plot().adjusted(-kNear, 0, kNear, 0).contains(at)) continue;
        least = away;
        nearest = i;
    }
    return nearest;
}

void NodesView::mousePressEvent(QMouseEvent* event) {
    const auto point =
        event->button() == Qt::LeftButton ? point_at(event->position()) : std::nullopt;
    if (!point) return;
    chosen_ = *point;
    say_chosen();
    update();
    if (points_[*point].nodes != present_) Q_EMIT chosen(points_[*point].nodes);
}

void NodesView::keyPressEvent(QKeyEvent* event) {
    if (points_.empty()) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_Left: chosen_ = chosen_ > 0 ? chosen_ - 1 : 0; break;
        case Qt::Key_Right: chosen_ = std::min(chosen_ + 1, points_.size() - 1); break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (points_[chosen_].nodes != present_) Q_EMIT chosen(points_[chosen_].nodes);
            return;
        default: return QWidget::keyPressEvent(event);
    }
    say_chosen();
    update();
}

bool NodesView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto point = points_.empty() ? std::nullopt : point_at(help->pos());
    if (point)
        QToolTip::showText(help->globalPos(),
                           words_of(points_[*point]) + '\n' + tr("A click takes these nodes"),
                           this);
    else
        QToolTip::hideText();
    return true;
}

}  // namespace debubble::gui
