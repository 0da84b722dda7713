#pragma once

#include <array>

#include <QImage>

#include "gui/viewmodel/timeline/scene.h"
#include "gui/widgets/timeline/row_painter.h"

namespace debubble::gui {

/// How everything looks, and what is kept from one frame to the next.
struct Look {
    Theme theme = Theme::Light;
    QFont font;
    std::array<LabelFonts, 2> label_fonts = {};  ///< one for each of those who paint
    /// The utilisation of the whole range; made again when it does not fit the map.
    std::vector<float> utilisation;
    std::shared_ptr<const Colouring> utilisation_of;
    TimeRange utilisation_range;
};

/// The same as shapes and text, for a page; where bars are too many for that, as an image. The
/// painter's units are those of the view, `size` of them.
void paint_page(QPainter& painter, QSize size, const Scene& scene, const ViewState& state,
                Look& look);

/// Paints a whole timeline. The image has Format_RGB32 and a device pixel ratio; its size is the
/// view's.
void paint_frame(QImage& image, const Scene& scene, const ViewState& state, Look& look);

}  // namespace debubble::gui
