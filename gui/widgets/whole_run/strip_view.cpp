#include "gui/widgets/whole_run/strip_view.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "gui/widgets/colours.h"
#include "sim/report/report.h"

namespace debubble::gui {
namespace {

constexpr double kLeastSight = 1;  ///< seconds; a step of a large job takes some
constexpr double kZoomStep = 1.5;
constexpr double kMoveStep = 0.2;  ///< share of the view
constexpr std::size_t kMostStepLines = 200;
constexpr std::size_t kMostTriangles = 400;  ///< more would overlap

picture::Theme theme_for(const QPalette& palette) {
    return is_dark(palette) ? picture::Theme::Dark : picture::Theme::Light;
}

/// A distance between the ticks of a time axis, a unit of clocks and calendars.
double clock_tick(double length) {
    for (const double tick :
         {0.1,  0.2,   0.5,   1.,    2.,     5.,     10.,    30.,     60.,     120.,   300.,
          600., 1800., 3600., 7200., 21600., 43200., 86400., 172800., 432000., 864000.})
        if (tick * 8 >= length) return tick;
    return std::ceil(length / 8 / 864000) * 864000;
}

/// "12 d", "3 d 04:30", "3 d 04:30:15.2": as many parts as the distance between ticks needs.
QString instant_words(double instant, double tick) {
    const auto tenths = static_cast<long long>(std::llround(instant * 10));
    const long long days = tenths / 864000;
    const long long s = tenths / 10 % 86400;
    QString words = StripView::tr("%1 d").arg(days);
    if (tick >= 86400) return words;
    words += QString(" %1:%2").arg(s / 3600, 2, 10, QChar('0')).arg(s / 60 % 60, 2, 10, QChar('0'));
    if (tick >= 60) return words;
    words += QString(":%1").arg(s % 60, 2, 10, QChar('0'));
    return tick >= 1 ? words : words + QString(".%1").arg(tenths % 10);
}

}  // namespace

StripView::StripView(QWidget* parent) : QWidget(parent) {
    setObjectName("run-strip");
    setAccessibleName(tr("One drawn run from its first step to its last"));
    setFocusPolicy(Qt::StrongFocus);
}

void StripView::show_strip(std::optional<RunStrip> strip) {
    const bool zoomed = strip_ && (from_ > 0 || to_ < strip_->length());
    strip_ = std::move(strip);
    columns_ = {};
    if (!strip_) return update();
    if (zoomed)
        show_range(from_, to_);
    else
        show_range(0, strip_->length());
}

/// Shows a range, cut to the run.
void StripView::show_range(double from, double to) {
    if (!strip_) return;
    const double whole = strip_->length();
    const double length = std::clamp(to - from, std::min(kLeastSight, whole), whole);
    from_ = std::clamp(from, 0.0, whole - length);
    to_ = from_ + length;
    columns_ = {};
    say_range();
    update();
}

void StripView::say_range() {
    const sim::RunSpell* spell = strip_->at(from_);
    QString words = tr("From %1 to %2 of %3")
                        .arg(instant_words(from_, 1), instant_words(to_, 1),
                             instant_words(strip_->length(), 1));
    if (spell != nullptr)
        words += tr("; it begins with %1").arg(QString::fromStdString(said_cause(spell->spent)));
    setAccessibleDescription(words);
}

QRectF StripView::band() const {
    const double line = fontMetrics().height();
    return QRectF(rect()).adjusted(8, 1.6 * line + 10, -8, -(1.2 * line + 4));
}

double StripView::instant_at(double x) const {
    return from_ + (to_ - from_) * (x - band().left()) / std::max(band().width(), 1.0);
}

double StripView::x_of(double instant) const {
    return band().left() + band().width() * (instant - from_) / (to_ - from_);
}

void StripView::zoom_at(double x, double factor) {
    const double fixed = instant_at(std::clamp(x, band().left(), band().right()));
    show_range(fixed - (fixed - from_) / factor, fixed + (to_ - fixed) / factor);
}

/// Paints the stacked shares of the causes in each column.
const QImage& StripView::columns() {
    const double ratio = devicePixelRatioF();
    const QSize size = (band().size() * ratio).toSize().expandedTo({1, 1});
    if (columns_.size() == size && columns_palette_ == palette()) return columns_;
    columns_palette_ = palette();
    columns_ = QImage(size, QImage::Format_RGB32);
    columns_.fill(palette().color(QPalette::Base));
    const std::size_t width = size.width();
    const std::vector<sim::RunSeconds> sums = strip_->columns(from_, to_, width);
    const double each = (to_ - from_) / static_cast<double>(width);
    QPainter painter(&columns_);
    for (std::size_t x = 0; x < width; ++x) {
        double bottom = size.height();
        for (std::size_t c = 0; c < sim::kRunTimes; ++c) {
            const double high = size.height() * sums[x][c] / each;
            if (high <= 0) continue;
            const Rgb ink = colour_of(static_cast<sim::RunTime>(c), theme_for(palette()));
            const double top = bottom - high;
            painter.fillRect(QRectF(double(x), top, 1, high), colour_of(ink));
            bottom = top;
        }
    }
    return columns_;
}

void StripView::paint_failures(QPainter& painter) const {
    const std::vector<double>& failures = strip_->failures();
    const auto first = std::ranges::lower_bound(failures, from_);
    const auto last = std::ranges::upper_bound(failures, to_);
    const auto count = static_cast<std::size_t>(last - first);
    const double line = fontMetrics().height();
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRectF(band().left(), band().top() - line - 8, band().width(), line),
                     Qt::AlignRight | Qt::AlignVCenter,
                     tr("%n failure(s) in sight", nullptr, int(count)));
    if (count > kMostTriangles) return;
    painter.setPen(Qt::NoPen);
    painter.setBrush(warning_colour(palette()));
    for (auto failure = first; failure != last; ++failure) {
        const QPointF tip(x_of(*failure), band().top());
        painter.drawPolygon(QPolygonF{{tip, tip + QPointF(-3.5, -6), tip + QPointF(3.5, -6)}});
    }
}

void StripView::paint_steps(QPainter& painter) const {
    QColor ink = palette().color(QPalette::Base);
    ink.setAlphaF(0.6F);
    painter.setPen(ink);
    for (const double end : strip_->step_ends(from_, to_, kMostStepLines))
        painter.drawLine(QPointF(x_of(end), band().top()), QPointF(x_of(end), band().bottom()));
}

void StripView::paint_axis(QPainter& painter) const {
    const QFontMetricsF metrics(font());
    const double tick = clock_tick(to_ - from_);
    painter.setPen(palette().color(QPalette::Text));
    double free_from = 0;
    for (double at = std::ceil(from_ / tick) * tick; at <= to_; at += tick) {
        const double x = x_of(at);
        painter.drawLine(QPointF(x, band().bottom()), QPointF(x, band().bottom() + 4));
        const QString words = instant_words(at, tick);
        const double wide = metrics.horizontalAdvance(words);
        const double left = std::clamp(x - wide / 2, 2.0, width() - wide - 2);
        if (left < free_from) continue;
        painter.drawText(QPointF(left, band().bottom() + 4 + metrics.ascent()), words);
        free_from = left + wide + 10;
    }
}

/// The causes of this run, in the order of the columns.
void StripView::paint_legend(QPainter& painter) const {
    const QFontMetricsF metrics(font());
    sim::RunSeconds whole{};
    for (const sim::RunSpell& spell : strip_->spells())
        of(whole, spell.spent) += spell.end - spell.begin;
    const double line = metrics.height();
    const double counted = metrics.horizontalAdvance(tr("%n failure(s) in sight", nullptr, 9999));
    double x = band().left();
    for (std::size_t c = 0; c < sim::kRunTimes; ++c) {
        const auto spent = static_cast<sim::RunTime>(c);
        if (whole[c] <= 0) continue;
        const QString words = QString::fromStdString(said_cause(spent));
        const double wide = metrics.horizontalAdvance(words);
        if (x + line + wide > band().right() - counted - 12) break;
        painter.fillRect(QRectF(x, 4 + 0.15 * line, 0.7 * line, 0.7 * line),
                         colour_of(colour_of(spent, theme_for(palette()))));
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QPointF(x + line, 4 + metrics.ascent()), words);
        x += line + wide + 14;
    }
}

void StripView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (!strip_) return;
    if (!isEnabled()) painter.setOpacity(0.35);  // of the previous plan
    painter.drawImage(band(), columns());
    paint_steps(painter);
    paint_axis(painter);
    paint_legend(painter);
    painter.setRenderHint(QPainter::Antialiasing);
    paint_failures(painter);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(hasFocus() ? QPalette::Highlight : QPalette::Mid), 1));
    painter.drawRect(band().adjusted(-1, -1, 0, 0));
}

void StripView::mousePressEvent(QMouseEvent* event) {
    if (strip_ && event->button() == Qt::LeftButton)
        dragged_from_ = instant_at(event->position().x());
}

void StripView::mouseMoveEvent(QMouseEvent* event) {
    if (!strip_ || !(event->buttons() & Qt::LeftButton)) return;
    const double by = dragged_from_ - instant_at(event->position().x());
    show_range(from_ + by, to_ + by);
}

void StripView::mouseDoubleClickEvent(QMouseEvent*) {
    if (strip_) show_range(0, strip_->length());
}

void StripView::wheelEvent(QWheelEvent* event) {
    if (!strip_) return QWidget::wheelEvent(event);
    zoom_at(event->position().x(), std::pow(kZoomStep, event->angleDelta().y() / 120.0));
    event->accept();
}

void StripView::keyPressEvent(QKeyEvent* event) {
    if (!strip_) return QWidget::keyPressEvent(event);
    const double middle = band().center().x();
    const double step = kMoveStep * (to_ - from_);
    switch (event->key()) {
        case Qt::Key_W:
        case Qt::Key_Plus:
        case Qt::Key_Up: return zoom_at(middle, kZoomStep);
        case Qt::Key_S:
        case Qt::Key_Minus:
        case Qt::Key_Down: return zoom_at(middle, 1 / kZoomStep);
        case Qt::Key_A:
        case Qt::Key_Left: return show_range(from_ - step, to_ - step);
        case Qt::Key_D:
        case Qt::Key_Right: return show_range(from_ + step, to_ + step);
        case Qt::Key_Home: return show_range(0, strip_->length());
        default: return QWidget::keyPressEvent(event);
    }
}

bool StripView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const double instant = strip_ ? instant_at(help->pos().x()) : 0;
    const sim::RunSpell* spell =
        strip_ && band().contains(help->pos()) ? strip_->at(instant) : nullptr;
    if (spell == nullptr) {
        QToolTip::hideText();
        return true;
    }
    QToolTip::showText(
        help->globalPos(),
        tr("%1 from %2 on, for %3")
            .arg(QString::fromStdString(said_cause(spell->spent)), instant_words(spell->begin, 1),
                 QString::fromStdString(sim::span_words(spell->end - spell->begin))),
        this);
    return true;
}

}  // namespace debubble::gui
