#pragma once

#include <array>
#include <memory>
#include <vector>

#include <QFont>

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

}  // namespace debubble::gui
