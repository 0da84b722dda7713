#pragma once

#include <optional>

#include "gui/viewmodel/timeline/scene.h"
#include "trace/picture/document/dependencies.h"

/// Navigation from bubble to bubble.
namespace debubble::gui {

/// The bubble after (`by` is 1) or before (-1) the selection: of the same rank in order of time,
/// then of the next rank. The first or the last bubble if nothing is selected; nothing at the ends.
std::optional<BubbleRef> neighbour_bubble(const Scene& scene, const Selection& selection, int by);

}  // namespace debubble::gui
