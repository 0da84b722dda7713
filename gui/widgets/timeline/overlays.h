#pragma once

#include "gui/widgets/timeline/frame.h"

namespace debubble::gui {

/// What is drawn on top of the lanes: limits and peaks of memory, what is selected with its
/// dependencies, what was found, the critical path, what is measured.
void paint_overlays(const Frame& frame);

}  // namespace debubble::gui
