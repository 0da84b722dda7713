#include "gui/widgets/timeline/paint_frame.h"

#include <cmath>
#include <thread>
#include <vector>

#include <QPainter>

#include "gui/widgets/timeline/chrome.h"
#include "gui/widgets/timeline/frame.h"
#include "gui/widgets/timeline/overlays.h"
#include "gui/widgets/timeline/vector_rows.h"

namespace debubble::gui {
namespace {

constexpr std::size_t kWorthSharing = 1'000'000;  ///< pixels, which take some 3 ms

/// Rows cut off at a line: pinned rows hide rows that scroll beneath them.
class Rows {
public:
    Rows(const Canvas& canvas, const Scene& scene, const ViewState& state, const Geometry& geometry,
         double ratio)
        : scroll_(-state.scroll - scene.layout.pinned_height) {
        const auto below = [&](int y) {
            const int cut = std::min(static_cast<int>(std::lround(y * ratio)), canvas.height);
            return Canvas{canvas.line(cut), canvas.width, canvas.height - cut, canvas.stride};
        };
        pinned_ = below(Geometry::kTop);
        scrolled_ = below(Geometry::kTop + scene.layout.pinned_height);
        for (const Row& row : scene.layout.rows)
            if (geometry.shows(scene.layout, row, state.scroll)) shown_.push_back(&row);
    }

    std::size_t count() const { return shown_.size(); }

    /// Every `step`th row from `first` on. No two rows share a pixel.
    void paint(RowPainter& painter, std::size_t first, std::size_t step) const {
        for (std::size_t i = first; i < shown_.size(); i += step) {
            const Row& row = *shown_[i];
            if (row.pinned)
                painter.paint(pinned_, row, 0);
            else
                painter.paint(scrolled_, row, scroll_);
        }
    }

private:
    int scroll_;
    Canvas pinned_;
    Canvas scrolled_;
    std::vector<const Row*> shown_;
};

}  // namespace

void paint_frame(QImage& image, const Scene& scene, const ViewState& state, Look& look) {
    const double ratio = image.devicePixelRatio();
    const Geometry geometry{(image.deviceIndependentSize()).toSize()};
    const Ground& ground = ground_of(look.theme);
    Canvas canvas{reinterpret_cast<std::uint32_t*>(image.bits()), image.width(), image.height(),
                  image.bytesPerLine() / 4};
    const int left = static_cast<int>(std::lround(Geometry::kGutter * ratio));
    fill(canvas, 0, left, {0, canvas.height}, ground.gutter);
    // The rows cover the rest, down to the last one.
    const int rows_height = scene.main ? scene.layout.height - state.scroll : 0;
    const int rows_end = Geometry::kTop + rows_height;
    const int below = std::max(static_cast<int>(std::lround(rows_end * ratio)) - 1, 0);
    const int covered_from = static_cast<int>(std::lround(Geometry::kTop * ratio));
    fill(canvas, left, canvas.width, {0, covered_from}, ground.window);
    fill(canvas, left, canvas.width, {below, canvas.height - below}, ground.window);
    if (!scene.main || left >= canvas.width) return;

    const TimeAxis axis = state.axis.scaled(ratio);
    const Rows rows(canvas.from(left), scene, state, geometry, ratio);
    const auto paint = [&](std::size_t part, std::size_t parts) {
        RowPainter painter(scene, axis, look.theme, ratio, look.font, look.label_fonts[part]);
        rows.paint(painter, part, parts);
    };
    const auto pixels =
        static_cast<std::size_t>(canvas.width) * static_cast<std::size_t>(canvas.height);
    if (rows.count() > 1 && pixels > kWorthSharing) {
        const std::jthread other(paint, 1, 2);
        paint(0, 2);
    } else {
        paint(0, 1);
    }
    QPainter painter(&image);
    painter.setFont(look.font);
    const Frame frame{painter, scene, state, geometry, look};
    paint_overlays(frame);
    paint_chrome(frame);
}

void paint_page(QPainter& painter, QSize size, const Scene& scene, const ViewState& state,
                Look& look) {
    constexpr double kFineness = 2;  // scale of the parts that are blended
    QImage raster(size * kFineness, QImage::Format_RGB32);
    raster.setDevicePixelRatio(kFineness);
    paint_frame(raster, scene, state, look);
    const Geometry geometry{size};
    const Ground& ground = ground_of(look.theme);
    painter.fillRect(QRectF(QPointF(), QSizeF(size)), colour(ground.window));
    painter.fillRect(QRectF(0, 0, Geometry::kGutter, size.height()), colour(ground.gutter));
    if (!scene.main) return;
    painter.setFont(look.font);
    const Frame frame{painter, scene, state, geometry, look};
    paint_vector_rows(frame, raster);
    paint_overlays(frame);
    paint_chrome(frame);
}

}  // namespace debubble::gui
