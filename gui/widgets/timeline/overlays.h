#pragma once

#include "gui/widgets/timeline/frame.h"

namespace debubble::gui {

/// Paints everything on top of the lanes: limits and peaks of memory, the selection with its
/// dependencies, hits of a search, the critical path, the measured range.
void paint_overlays(const Frame& frame);

}  // namespace debubble::gui
