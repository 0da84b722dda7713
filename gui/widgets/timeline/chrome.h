#pragma once

#include "gui/widgets/timeline/frame.h"

namespace debubble::gui {

/// Paints the surroundings of the lanes: the map of the whole, the ruler, the gutter.
void paint_chrome(const Frame& frame);

}  // namespace debubble::gui
