#include "gui/widgets/timeline/overview_view.h"

#include <algorithm>
#include <cmath>

#include <QMouseEvent>
#include <QPainter>

#include "gui/widgets/colours.h"

namespace debubble::gui {
namespace {

constexpr int kGutter = 170;
constexpr int kBetween = 10;          ///< pixels between lines of work and lines of memory
constexpr double kMemoryShare = 0.2;  ///< of the width
constexpr double kClick = 4;          ///< pixels below which a drag is a click
constexpr double kMostLine = 24;      ///< greatest height of a rank's line

QImage image_of(const std::vector<std::uint32_t>& pixels, std::size_t width) {
    const int lines = width == 0 ? 0 : int(pixels.size() / width);
    QImage image(int(width), std::max(lines, 1), QImage::Format_RGB32);
    for (int y = 0; y < lines; ++y)
        std::copy_n(pixels.begin() + std::ptrdiff_t(std::size_t(y) * width), width,
                    reinterpret_cast<std::uint32_t*>(image.scanLine(y)));
    return image;
}

}  // namespace

OverviewView::OverviewView(QWidget* parent) : QWidget(parent) {
    setObjectName("overview");
    setAccessibleName(tr("All ranks, a line each"));
    setMinimumSize(360, 140);
    worker_ = std::make_unique<LatestWins<Question, Drawn>>(
        [](const Question& question, const std::stop_token& stop) {
            return Drawn{question.document,
                         overview_picture(*question.document, question.theme, question.width,
                                          question.memory_width, stop)};
        },
        [this](Drawn made) {
            QMetaObject::invokeMethod(
                this,
                [this, made = std::move(made)] {
                    if (made.document != document_) return;
                    work_ = image_of(made.picture.work, made.picture.width);
                    memory_ = image_of(made.picture.memory, made.picture.memory_width);
                    update();
                    Q_EMIT drawn();
                },
                Qt::QueuedConnection);
        });
}

OverviewView::~OverviewView() = default;

void OverviewView::set_document(Document document) {
    if (document_ == document) return;
    document_ = std::move(document);
    bands_ = document_ ? rank_bands(*document_) : std::vector<RankBand>{};
    work_ = memory_ = {};
    worker_->forget();
    if (isVisible()) ask();
    update();
}

QRectF OverviewView::work() const {
    const double lines = document_ ? double(document_->devices.size()) : 0;
    const double wide = width() - kGutter - kBetween - 8;
    return {double(kGutter), 8, wide * (1 - kMemoryShare),
            std::min(height() - 16.0, kMostLine * lines)};
}

QRectF OverviewView::memory() const {
    const QRectF of = work();
    return {of.right() + kBetween, of.top(), width() - of.right() - kBetween - 8, of.height()};
}

void OverviewView::ask() {
    if (!document_ || document_->devices.empty() || width() < kGutter + 100) return;
    const double ratio = devicePixelRatioF();
    worker_->ask({document_, is_dark(palette()) ? picture::Theme::Dark : picture::Theme::Light,
                  std::size_t(std::lround(work().width() * ratio)),
                  std::size_t(std::lround(memory().width() * ratio))});
}

void OverviewView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    ask();
}

void OverviewView::resizeEvent(QResizeEvent*) {
    if (isVisible()) ask();
}

void OverviewView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && isVisible()) ask();
}

void OverviewView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    painter.setPen(palette().color(QPalette::PlaceholderText));
    if (!document_) return painter.drawText(rect(), Qt::AlignCenter, tr("Nothing is open"));
    // Lines lower than a pixel are averaged, so that none is left out.
    painter.setRenderHint(QPainter::SmoothPixmapTransform,
                          double(document_->devices.size()) > work().height());
    if (!work_.isNull()) painter.drawImage(work(), work_);
    if (!memory_.isNull()) painter.drawImage(memory(), memory_);
    const double per_device = work().height() / double(document_->devices.size());
    const double letters = fontMetrics().height();
    double free_from = 0;  // words of narrow bands would overlap
    for (const RankBand& band : bands_) {
        const double top = work().top() + per_device * double(band.first);
        const double bottom = work().top() + per_device * double(band.last + 1);
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawLine(QPointF(kGutter - 5, top + 1), QPointF(kGutter - 5, bottom - 1));
        const double middle = (top + bottom) / 2;
        if (middle - letters / 2 < free_from) continue;
        free_from = middle + letters / 2;
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QRectF(6, middle - letters / 2, kGutter - 16, letters),
                         Qt::AlignRight | Qt::AlignVCenter, QString::fromStdString(band.name));
    }
    if (dragging_)
        paint_brush(painter, pressed_, dragged_);
    else if (brush_)
        paint_brush(painter, line_of(brush_->first).top(), line_of(brush_->second).bottom());
}

void OverviewView::paint_brush(QPainter& painter, double a, double b) {
    QColor fill = palette().color(QPalette::Highlight);
    painter.setPen(QPen(fill, 2));
    fill.setAlphaF(0.2F);
    painter.setBrush(fill);
    painter.drawRect(
        QRectF(work().left(), std::min(a, b), memory().right() - work().left(), std::abs(b - a)));
}

/// The line of a rank's first device; empty for an unknown rank.
QRectF OverviewView::line_of(int rank) const {
    const std::vector<Device>& devices = document_->devices;
    const auto at = std::ranges::find(devices, Rank{rank}, &Device::rank);
    if (at == devices.end()) return {};
    const double high = work().height() / double(devices.size());
    return {work().left(), work().top() + high * double(at - devices.begin()), work().width(),
            high};
}

void OverviewView::set_brush(std::optional<std::pair<int, int>> ranks) {
    if (brush_ == ranks) return;
    brush_ = ranks;
    update();
}

void OverviewView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !document_) return;
    dragging_ = true;
    pressed_ = dragged_ = event->position().y();
    update();
}

void OverviewView::mouseMoveEvent(QMouseEvent* event) {
    if (!dragging_) return;
    dragged_ = event->position().y();
    update();
}

void OverviewView::mouseReleaseEvent(QMouseEvent* event) {
    if (!dragging_ || !document_ || document_->devices.empty()) return;
    dragging_ = false;
    update();
    auto [first, last] =
        devices_between(document_->devices.size(), work().height(), pressed_ - work().top(),
                        event->position().y() - work().top());
    if (std::abs(event->position().y() - pressed_) < kClick)
        for (const RankBand& band : bands_)
            if (band.first <= first && first <= band.last) {
                first = band.first;
                last = band.last;
                break;
            }
    Q_EMIT brushed(document_->devices[first].rank.index, document_->devices[last].rank.index);
}

}  // namespace debubble::gui
