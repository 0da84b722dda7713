#include "gui/widgets/whole_run/interval_slider.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "gui/widgets/colours.h"
#include "sim/report/report.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

constexpr double kSaveKnob = 5;  ///< radius in pixels

}  // namespace

IntervalSlider::IntervalSlider(QWidget* parent) : QSlider(Qt::Horizontal, parent) {
    setObjectName("run-interval");
    setAccessibleName(tr("Interval of saves"));
    setToolTip(tr("Drag the knob: what if the run saved that often? Home takes what loses least"));
    setRange(0, 0);
    connect(this, &QSlider::valueChanged, this, [this] {
        setAccessibleDescription(words());
        update();
    });
}

void IntervalSlider::show_curve(IntervalCurve curve) {
    curve_ = std::move(curve);
    setRange(0, std::max(0, int(curve_.places.size()) - 1));
    setValue(int(curve_.present));
    setAccessibleDescription(words());
    update();
}

QString IntervalSlider::words() const {
    if (curve_.places.empty()) return tr("Nothing fails: any interval will do");
    const IntervalPlace& at = curve_.places[std::size_t(value())];
    const QString how_often = QString::fromStdString(sim::span_words(at.seconds));
    const QString share = QString::fromStdString(text::percent(at.goodput));
    const QString words = tr("A save every %n step(s), %1: %2 of the time is useful", nullptr,
                             int(std::min<std::int64_t>(at.steps, 1'000'000'000)))
                              .arg(how_often, share);
    return std::size_t(value()) == curve_.best ? tr("%1, where least is lost").arg(words) : words;
}

QRectF IntervalSlider::plot() const {
    const double line = fontMetrics().height();
    return QRectF(rect()).adjusted(fontMetrics().horizontalAdvance("100.0 %") + 12, 1.4 * line + 4,
                                   -14, -(line + 10));
}

/// The axes: intervals logarithmic, shares from the least to the greatest of the curve.
QPointF IntervalSlider::place(int value) const {
    const auto& places = curve_.places;
    const QRectF area = plot();
    const double first = std::log(places.front().seconds);
    const double last = std::log(places.back().seconds);
    const auto [low, high] = std::ranges::minmax_element(places, {}, &IntervalPlace::goodput);
    const IntervalPlace& at = places[std::size_t(value)];
    const double x = last > first ? (std::log(at.seconds) - first) / (last - first) : 0.5;
    const double span = std::max(high->goodput - low->goodput, 1e-3);
    return {area.left() + area.width() * x,
            area.bottom() - area.height() * (at.goodput - low->goodput) / span};
}

int IntervalSlider::value_at(double x) const {
    int nearest = 0;
    for (int i = 0; i <= maximum(); ++i)
        if (std::abs(place(i).x() - x) < std::abs(place(nearest).x() - x)) nearest = i;
    return nearest;
}

void IntervalSlider::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const QFontMetricsF metrics(font());
    const QColor ink = palette().color(QPalette::Text);
    painter.setPen(ink);
    if (!isEnabled() && !curve_.places.empty()) painter.setOpacity(0.35);
    painter.drawText(QRectF(8, 3, width() - 16, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(words(), Qt::ElideRight, width() - 16));
    if (curve_.places.empty()) return;
    const QRectF area = plot();
    const auto& places = curve_.places;
    const auto [low, high] = std::ranges::minmax(places, {}, &IntervalPlace::goodput);
    painter.setPen(palette().color(QPalette::PlaceholderText));
    for (const auto& [share, y] :
         {std::pair(high.goodput, area.top()), std::pair(low.goodput, area.bottom())})
        painter.drawText(QRectF(0, y - metrics.height() / 2, area.left() - 6, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter,
                         QString::fromStdString(text::percent(share)));
    const auto below = [&](double x, double seconds, Qt::Alignment how) {
        painter.drawText(QRectF(x - 100, area.bottom() + 6, 200, metrics.height()), how,
                         QString::fromStdString(sim::span_words(seconds)));
    };
    below(area.left() + 100, places.front().seconds, Qt::AlignLeft);
    below(area.right() - 100, places.back().seconds, Qt::AlignRight);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor accent = is_dark(palette()) ? QColor(0x8AA8E8) : QColor(0x2F6FB5);
    QPolygonF line;
    for (int i = 0; i <= maximum(); ++i) line << place(i);
    painter.setPen(QPen(accent, 1.8));
    painter.drawPolyline(line);
    const QPointF best = place(int(curve_.best));
    painter.setPen(QPen(good_colour(palette()), 1.2, Qt::DashLine));
    painter.drawLine(QPointF(best.x(), area.top()), QPointF(best.x(), area.bottom() + 4));
    const bool apart = best.x() - area.left() > 70 && area.right() - best.x() > 70;
    if (apart) below(best.x(), places[curve_.best].seconds, Qt::AlignHCenter);
    painter.setBrush(palette().color(QPalette::Base));
    painter.setPen(
        QPen(hasFocus() ? palette().color(QPalette::Highlight) : ink, hasFocus() ? 3 : 1.5));
    painter.drawEllipse(place(value()), kSaveKnob, kSaveKnob);
}

void IntervalSlider::choose() {
    const auto at = std::size_t(value());
    if (curve_.places.empty() || at == curve_.present) return;
    if (at == curve_.best) return Q_EMIT best_chosen();
    Q_EMIT chosen(curve_.places[at].steps);
}

void IntervalSlider::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || curve_.places.empty()) return;
    setSliderDown(true);
    setValue(value_at(event->position().x()));
}

void IntervalSlider::mouseMoveEvent(QMouseEvent* event) {
    if (isSliderDown()) setValue(value_at(event->position().x()));
}

void IntervalSlider::mouseReleaseEvent(QMouseEvent*) {
    if (!isSliderDown()) return;
    setSliderDown(false);
    choose();
}

void IntervalSlider::keyPressEvent(QKeyEvent* event) {
    const int before = value();
    if (event->key() == Qt::Key_Home)
        setValue(int(curve_.best));
    else
        QSlider::keyPressEvent(event);
    if (value() != before) choose();
}

/// Leaves the wheel to the page, so that scrolling changes no interval.
void IntervalSlider::wheelEvent(QWheelEvent* event) {
    event->ignore();
}

}  // namespace debubble::gui
