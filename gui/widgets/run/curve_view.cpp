#include "gui/widgets/run/curve_view.h"

#include <algorithm>

#include <QPainter>

#include "gui/widgets/colours.h"

namespace debubble::gui {

CurveView::CurveView(const QString& title, QWidget* parent) : QWidget(parent), title_(title) {
    setAccessibleName(title);
    setMinimumSize(140, 70);
}

void CurveView::show_values(std::vector<double> values) {
    values_ = std::move(values);
    update();
}

void CurveView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const QFontMetrics metrics(font());
    const QRectF area = QRectF(rect()).adjusted(6, metrics.height() + 4, -6, -6);
    painter.setPen(palette().color(QPalette::Text));
    const QString last =
        values_.empty() ? QString() : QString(": %1").arg(values_.back(), 0, 'g', 6);
    painter.drawText(6, metrics.ascent() + 2, title_ + last);
    if (values_.size() < 2 || area.width() < 2) return;
    const auto [low, high] = std::ranges::minmax(values_);
    const double span = high > low ? high - low : 1;
    const auto y = [&, least = low](double v) {
        return area.bottom() - area.height() * (v - least) / span;
    };
    const int columns = std::min(int(area.width()), int(values_.size()));
    QPolygonF line;
    for (int c = 0; c < columns; ++c) {
        const auto begin = values_.begin() + std::ptrdiff_t(values_.size()) * c / columns;
        const auto end = values_.begin() + std::ptrdiff_t(values_.size()) * (c + 1) / columns;
        const auto [least, most] = std::minmax_element(begin, end);
        const double x = area.left() + area.width() * c / std::max(columns - 1, 1);
        line << QPointF(x, y(*most));
        if (least != most) line << QPointF(x, y(*least));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(is_dark(palette()) ? QColor(0x8AA8E8) : QColor(0x2F6FB5), 1.5));
    painter.drawPolyline(line);
}

}  // namespace debubble::gui
