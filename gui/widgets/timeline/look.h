#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include <QFont>

#include "gui/viewmodel/timeline/scene.h"
#include "gui/widgets/timeline/text_masks.h"

namespace debubble::gui {

/// Label fonts by pixel size, reused from frame to frame.
using LabelFonts = std::map<int, TextMasks>;

/// The look of a timeline, and the objects that its frames reuse.
struct Look {
    Theme theme = Theme::Light;
    QFont font;
    std::array<LabelFonts, 2> label_fonts = {};  ///< one for each painting thread
    /// The utilisation of the whole range; computed again when it does not fit the map.
    std::vector<float> utilisation;
    std::shared_ptr<const Colouring> utilisation_of;
    TimeRange utilisation_range;
};

}  // namespace debubble::gui
