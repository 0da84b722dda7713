#pragma once

#include "gui/viewmodel/timeline/scene.h"
#include "gui/widgets/timeline/geometry.h"
#include "gui/widgets/timeline/paint_frame.h"

class QPainter;

namespace debubble::gui {

/// All that is drawn on top of the rows: map, ruler, gutter, limits, peaks, what is selected and
/// measured.
void paint_overlays(QPainter& painter, const Scene& scene, const ViewState& state,
                    const Geometry& geometry, Look& look);

}  // namespace debubble::gui
