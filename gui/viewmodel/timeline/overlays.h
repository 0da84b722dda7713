#pragma once

#include "gui/viewmodel/timeline/scene.h"
#include "trace/picture/view.h"

namespace debubble::gui {

/// Marks over the lanes: the selection with its dependencies, hits of a search, the critical path,
/// the measured range.
Sheets overlays(const Scene& scene, const ViewState& state, const View& view);

/// Marks on the map and the ruler.
Sheets marks_above(const Scene& scene, const ViewState& state, const View& view);

/// The whole picture of the window.
Sheets picture_of(const Scene& scene, const ViewState& state, const View& view);

}  // namespace debubble::gui
