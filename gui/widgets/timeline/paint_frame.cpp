#include "gui/widgets/timeline/paint_frame.h"

#include <cmath>

#include <QPainter>

#include "gui/widgets/timeline/chrome.h"
#include "gui/widgets/timeline/frame.h"
#include "gui/widgets/timeline/overlays.h"

namespace debubble::gui {
namespace {

/// Rows cut off at a line: pinned rows hide what scrolls beneath them.
void paint_rows(const Canvas& canvas, const Scene& scene, const ViewState& state,
                const Geometry& geometry, RowPainter& painter, double ratio) {
    const int pinned_end = Geometry::kTop + scene.layout.pinned_height;
    const auto below = [&](int y) {
        const int cut = std::min(static_cast<int>(std::lround(y * ratio)), canvas.height);
        return Canvas{canvas.line(cut), canvas.width, canvas.height - cut, canvas.stride};
    };
    const Canvas pinned = below(Geometry::kTop);
    const Canvas scrolled = below(pinned_end);
    for (const Row& row : scene.layout.rows) {
        if (!geometry.shows(scene.layout, row, state.scroll)) continue;
        if (row.pinned)
            painter.paint(pinned, row, 0);
        else
            painter.paint(scrolled, row, -state.scroll - scene.layout.pinned_height);
    }
}

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
    RowPainter rows(scene, axis, look.theme, ratio, look.font, look.label_fonts);
    paint_rows(canvas.from(left), scene, state, geometry, rows, ratio);
    QPainter painter(&image);
    painter.setFont(look.font);
    const Frame frame{painter, scene, state, geometry, look};
    paint_overlays(frame);
    paint_chrome(frame);
}

}  // namespace debubble::gui
