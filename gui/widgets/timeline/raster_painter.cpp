#include "gui/widgets/timeline/raster_painter.h"

#include <algorithm>
#include <cmath>

#include "base/overloaded.h"

namespace debubble::gui {

int RasterPainter::x(double of) const {
    return static_cast<int>(std::lround(of * scale_));
}

void RasterPainter::paint(const Canvas& canvas, const Steps& steps, double dy) {
    levels_.resize(steps.levels.size());
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        const std::vector<float>& from = steps.levels[i].tops;
        levels_[i].fill = steps.levels[i].fill;
        levels_[i].tops.resize(from.size());
        // Like x(), but without a call, so that the compiler vectorises the loop.
        const auto scale = static_cast<float>(scale_);
        const auto shift = static_cast<float>(dy * scale_);
        std::ranges::transform(from, levels_[i].tops.begin(), [=](float top) {
            const float y = top * scale + shift;
            return static_cast<int>(y + (y < 0 ? -0.5F : 0.5F));
        });
    }
    const Band lane = band(steps.rect, dy);
    fill_steps(canvas, lane, levels_, steps.ground);
    if (steps.edge && !levels_.empty()) draw_edge(canvas, lane, levels_[0].tops, *steps.edge);
}

Band RasterPainter::band(Rect rect, double dy) const {
    const int top = x(rect.y + dy);
    return {top, x(rect.bottom() + dy) - top};
}

TextMasks& RasterPainter::masks_of_size(double size) {
    const int pixels = x(size);
    if (const auto found = fonts_.find(pixels); found != fonts_.end()) return found->second;
    QFont font = font_;
    font.setPixelSize(pixels);
    return fonts_.try_emplace(pixels, font).first->second;
}

void RasterPainter::paint(const Canvas& canvas, const Shapes& shapes, double dy) {
    const auto width_of_line = [&](double width) { return std::max(x(width), 1); };
    for (const Shape& shape : shapes)
        std::visit(Overloaded{
                       [&](const Area& area) {
                           fill(canvas, x(area.rect.x), x(area.rect.right()), band(area.rect, dy),
                                area.fill);
                       },
                       [&](const Hatch& lines) {
                           hatch(canvas, lines.rect.x * scale_, lines.rect.right() * scale_,
                                 band(lines.rect, dy), lines.ink, width_of_line(kHatchPeriod),
                                 width_of_line(lines.thickness));
                       },
                       [&](const Columns& columns) {
                           fill_columns(canvas, band(columns.rect, dy), columns.colours);
                       },
                       [&](const Steps& steps) { paint(canvas, steps, dy); },
                       [&](const Text& text) {
                           const Mask& mask = masks_of_size(text.size).mask(text.words);
                           stamp(canvas, static_cast<int>(text.at.x * scale_ - mask.width / 2.0),
                                 static_cast<int>((text.at.y + dy) * scale_ - mask.height / 2.0),
                                 mask, text.ink);
                       },
                       [](const auto&) {},  // rows have no other shapes
                   },
                   shape);
}

}  // namespace debubble::gui
