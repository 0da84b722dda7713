#pragma once

#include "gui/widgets/timeline/look.h"
#include "trace/picture/raster.h"
#include "trace/picture/shapes.h"

namespace debubble::gui {

/// Translates the shapes of rows into pixels, many times faster than QPainter: areas, columns,
/// hatches, steps and labels. Lines and dots are left to QPainter.
class RasterPainter {
public:
    /// One pixel of the shapes is `scale` pixels of the canvas.
    RasterPainter(double scale, const QFont& font, LabelFonts& fonts)
        : scale_(scale), font_(font), fonts_(fonts) {}

    /// The left edges of the canvas and the shapes are equal; `dy` is added to the shapes' y.
    void paint(const Canvas& canvas, const Shapes& shapes, double dy);

private:
    void paint(const Canvas& canvas, const Steps& steps, double dy);
    Band band(Rect rect, double dy) const;
    int x(double of) const;
    TextMasks& masks_of_size(double size);

    double scale_;
    QFont font_;
    LabelFonts& fonts_;
    std::vector<StepLevel> levels_;  ///< reused, which saves allocations
};

}  // namespace debubble::gui
