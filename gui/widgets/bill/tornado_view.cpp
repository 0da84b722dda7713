#include "gui/widgets/bill/tornado_view.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include "gui/widgets/colours.h"
#include "text/wording.h"
#include "trace/picture/colours.h"

namespace debubble::gui {
namespace {

constexpr double kRows = 2.6;      ///< height of a bar's row, in heights of a line
constexpr double kWords = 0.34;    ///< share of the width for names and values
constexpr double kKnobRadius = 5;  ///< radius in pixels
constexpr double kFinest =
    1 / 64.0;  ///< step of the factor's logarithm, for few questions per drag
constexpr double kKeyStep = 1 / 8.0;

}  // namespace

TornadoView::TornadoView(QWidget* parent) : QWidget(parent) {
    setObjectName("tornado");
    setAccessibleName(tr("The step at half and at twice of each constant of the machine"));
    setFocusPolicy(Qt::StrongFocus);
    setToolTip(tr("Drag a knob along its bar: what if the machine were such?"));
    worker_ = std::make_unique<LatestWins<ScenarioText, Result>>(
        [](const ScenarioText& source, const std::stop_token& stop) {
            return Result{source, tornado_of(source, stop)};
        },
        [this](Result result) {
            QMetaObject::invokeMethod(
                this, [this, result = std::move(result)]() mutable { take(std::move(result)); },
                Qt::QueuedConnection);
        });
}

TornadoView::~TornadoView() = default;

/// The view's own changes keep the bars, so that the knob stays under the pointer.
void TornadoView::set_scenario(const ScenarioText& source) {
    const bool turned_here = tornado_ && source == turned_text_;
    if (turned_here || (source == base_ && !base_.text.empty() && asked_ == base_)) {
        if (!turned_here) turned_.reset();
        return update();
    }
    turned_.reset();
    turned_text_ = {};
    base_ = source;
    if (base_.text.empty()) {
        tornado_.reset();
        asked_ = {};
        worker_->forget();
    } else if (isVisible()) {
        ask();
    }
    update();
}

void TornadoView::ask() {
    if (base_.text.empty() || asked_ == base_) return;
    asked_ = base_;
    worker_->ask(base_);
}

void TornadoView::take(Result result) {
    if (result.source != base_) return;
    const auto name_of = [&](std::size_t bar) {
        return tornado_ && bar < tornado_->bars.size() ? tornado_->bars[bar].lever.name()
                                                       : std::string();
    };
    const std::string chosen = name_of(chosen_);
    const std::string turned = turned_ ? name_of(*turned_) : std::string();
    tornado_ = std::move(result.tornado);
    chosen_ = 0;
    turned_.reset();
    for (std::size_t i = 0; tornado_ && i < tornado_->bars.size(); ++i) {
        if (tornado_->bars[i].lever.name() == chosen) chosen_ = i;
        if (tornado_->bars[i].lever.name() == turned) turned_ = i;
    }
    updateGeometry();
    update();
    Q_EMIT ready();
}

void TornadoView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    ask();
}

QSize TornadoView::sizeHint() const {
    const double rows = tornado_ ? double(tornado_->bars.size()) : 6;
    return {360, int(fontMetrics().height() * (kRows * rows + 2.5))};
}

QRectF TornadoView::bars() const {
    const double line = fontMetrics().height();
    return QRectF(rect()).adjusted(width() * kWords, 1.6 * line, -14, -6);
}

QRectF TornadoView::row(std::size_t bar) const {
    const double most = tornado_ ? bars().height() / double(tornado_->bars.size()) : 0;
    const double high = std::min(kRows * fontMetrics().height(), most);
    return {bars().left(), bars().top() + double(bar) * high, bars().width(), high};
}

/// The axis contains all ends, and at least a tenth of a percent of the step.
double TornadoView::x_of(double step_s) const {
    double low = tornado_->step_s * 0.999;
    double high = tornado_->step_s * 1.001;
    for (const TornadoBar& bar : tornado_->bars)
        for (const auto& end : {bar.step_at_half_s, bar.step_at_twice_s})
            if (end) {
                low = std::min(low, *end);
                high = std::max(high, *end);
            }
    const QRectF area = bars().adjusted(kKnobRadius, 0, -kKnobRadius, 0);
    return area.left() + area.width() * (step_s - low) / (high - low);
}

QPointF TornadoView::place_of(std::size_t bar, double step_s) const {
    const QRectF place = row(bar);
    return {x_of(step_s), place.top() + 0.3 * place.height()};
}

QPointF TornadoView::knob_of(std::size_t bar) const {
    return place_of(bar, step_for(tornado_->bars[bar], tornado_->step_s, factor_of(bar)));
}

/// "half: +74.9 %, twice: -35.0 %".
QString TornadoView::changes_of(const TornadoBar& bar) const {
    const auto change = [&](const std::optional<double>& end) {
        if (!end) return tr("impossible");
        const double by = 100 * (*end / tornado_->step_s - 1);
        return QString("%1%2 %").arg(by >= 0.05 ? "+" : "", QString::number(by, 'f', 1));
    };
    if (bar.lever.constants().front().value == 0)  // half and twice of 0 are 0
        return tr("at %1: %2")
            .arg(QString::fromStdString(bar.lever.words(2)), change(bar.step_at_twice_s));
    return tr("half: %1, twice: %2").arg(change(bar.step_at_half_s), change(bar.step_at_twice_s));
}

void TornadoView::paint_bar(QPainter& painter, std::size_t at) const {
    const TornadoBar& bar = tornado_->bars[at];
    const QRectF place = row(at);
    const bool dark = is_dark(palette());
    const picture::Ground& ground =
        picture::ground_of(dark ? picture::Theme::Dark : picture::Theme::Light);
    const QColor ink = palette().color(QPalette::Text);
    const double line = fontMetrics().height();
    const double now = x_of(tornado_->step_s);
    const double high = std::min(0.55 * place.height(), 1.3 * line);
    for (const bool twice : {false, true}) {
        const auto& end = twice ? bar.step_at_twice_s : bar.step_at_half_s;
        if (!end) continue;
        const bool worse = *end > tornado_->step_s;
        const double x = x_of(*end);
        const QRectF part(std::min(x, now), knob_of(at).y() - high / 2, std::abs(x - now), high);
        painter.fillRect(part, colour_of(worse ? ground.warning : ground.better));
    }
    if (place.height() > 2.2 * line) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(QRectF(place.left(), knob_of(at).y() + high / 2, place.width(), line),
                         Qt::AlignLeft | Qt::AlignVCenter, changes_of(bar));
    }
    const double factor = factor_of(at);
    QString words = QString::fromStdString(bar.lever.name());
    if (factor != 1) words += tr(" × %1").arg(QString::number(factor, 'g', 3));
    painter.setPen(ink);
    const QRectF names(6, place.top(), place.left() - 12, place.height());
    painter.drawText(QRectF(names.left(), knob_of(at).y() - line, names.width(), line),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(words, Qt::ElideRight, int(names.width())));
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(QRectF(names.left(), knob_of(at).y(), names.width(), line),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     QString::fromStdString(bar.lever.words(factor)));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(palette().color(QPalette::Base));
    const bool chosen = hasFocus() && at == chosen_;
    painter.setPen(QPen(chosen ? palette().color(QPalette::Highlight) : ink, chosen ? 3 : 1.5));
    painter.drawEllipse(knob_of(at), kKnobRadius, kKnobRadius);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void TornadoView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    painter.setPen(palette().color(QPalette::PlaceholderText));
    if (!tornado_)
        return painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
                                asked_.text.empty()
                                    ? tr("No plan is open")
                                    : tr("The plan is predicted on other machines ..."));
    const double line = fontMetrics().height();
    painter.drawText(QRectF(6, 4, width() - 12, line), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("Step %1; at half and at twice of")
                         .arg(QString::fromStdString(text::time_text(tornado_->step_s))));
    for (std::size_t i = 0; i < tornado_->bars.size(); ++i) paint_bar(painter, i);
    const double now = std::floor(x_of(tornado_->step_s)) + 0.5;
    painter.setPen(QPen(palette().color(QPalette::Text), 1, Qt::DotLine));
    painter.drawLine(QPointF(now, bars().top()),
                     QPointF(now, row(tornado_->bars.size() - 1).bottom()));
}

std::optional<std::size_t> TornadoView::bar_at(QPointF at) const {
    if (!tornado_) return std::nullopt;
    for (std::size_t i = 0; i < tornado_->bars.size(); ++i)
        if (row(i).top() <= at.y() && at.y() < row(i).bottom()) return i;
    return std::nullopt;
}

/// Changing a second constant keeps the first change, so the bars become those of the changed
/// machine.
void TornadoView::turn(std::size_t bar, double factor) {
    factor = std::exp2(std::round(std::log2(std::clamp(factor, 0.5, 2.0)) / kFinest) * kFinest);
    if (factor == factor_of(bar)) return;
    if (turned_ && *turned_ != bar && factor_ != 1) {
        base_ = turned_text_;
        ask();
    }
    turned_ = bar;
    factor_ = factor;
    chosen_ = bar;
    const Lever& lever = tornado_->bars[bar].lever;
    turned_text_ = factor == 1 ? base_ : with_lever(base_, lever, factor);
    update();
    Q_EMIT turned(turned_text_, QString::fromStdString(lever.name()));
}

void TornadoView::mousePressEvent(QMouseEvent* event) {
    const auto bar = event->button() == Qt::LeftButton ? bar_at(event->position()) : std::nullopt;
    if (!bar) return;
    chosen_ = *bar;
    dragging_ = true;
    update();
}

void TornadoView::mouseMoveEvent(QMouseEvent* event) {
    if (!dragging_ || !tornado_ || chosen_ >= tornado_->bars.size()) return;
    const TornadoBar& bar = tornado_->bars[chosen_];
    const double ms = 1e-3 * tornado_->step_s;
    const double per_pixel =
        ms / std::max(x_of(tornado_->step_s + ms) - x_of(tornado_->step_s), 1e-9);
    const double step =
        tornado_->step_s + (event->position().x() - x_of(tornado_->step_s)) * per_pixel;
    turn(chosen_, factor_for(bar, tornado_->step_s, step));
}

void TornadoView::mouseReleaseEvent(QMouseEvent*) {
    dragging_ = false;
}

void TornadoView::keyPressEvent(QKeyEvent* event) {
    if (!tornado_ || tornado_->bars.empty()) return QWidget::keyPressEvent(event);
    const double factor = factor_of(chosen_);
    switch (event->key()) {
        case Qt::Key_Up: chosen_ = chosen_ > 0 ? chosen_ - 1 : 0; break;
        case Qt::Key_Down: chosen_ = std::min(chosen_ + 1, tornado_->bars.size() - 1); break;
        case Qt::Key_Left: turn(chosen_, factor * std::exp2(-kKeyStep)); break;
        case Qt::Key_Right: turn(chosen_, factor * std::exp2(kKeyStep)); break;
        case Qt::Key_Home: turn(chosen_, 1); break;
        default: return QWidget::keyPressEvent(event);
    }
    update();
}

}  // namespace debubble::gui
