#include "gui/widgets/timeline/text_masks.h"

#include <cmath>

#include <QFontMetricsF>
#include <QImage>
#include <QPainter>

namespace debubble::gui {
namespace {

constexpr std::size_t kMostMasks = 8192;  ///< a bound on memory, not on labels

Mask render(const std::string& text, const QFont& font) {
    const QString string = QString::fromStdString(text);
    const QFontMetricsF metrics(font);
    const QRectF bounds = metrics.tightBoundingRect(string);
    const QSize size(static_cast<int>(std::ceil(bounds.width())) + 2,
                     static_cast<int>(std::ceil(bounds.height())) + 2);
    QImage image(size, QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    painter.setFont(font);
    painter.setPen(Qt::white);
    painter.drawText(QPointF(1 - std::floor(bounds.left()), 1 - std::floor(bounds.top())), string);
    painter.end();
    Mask mask{size.width(), size.height(), {}};
    mask.coverage.reserve(static_cast<std::size_t>(mask.width) * mask.height);
    for (int y = 0; y < mask.height; ++y)
        for (int x = 0; x < mask.width; ++x)
            mask.coverage.push_back(static_cast<std::uint8_t>(qAlpha(image.pixel(x, y))));
    return mask;
}

}  // namespace

TextMasks::TextMasks(const QFont& font) : font_(font) {}

const Mask& TextMasks::mask(const std::string& text) {
    if (masks_.size() > kMostMasks) masks_.clear();
    const auto [place, added] = masks_.try_emplace(text);
    if (added) place->second = render(text, font_);
    return place->second;
}

}  // namespace debubble::gui
