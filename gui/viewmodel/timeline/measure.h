#pragma once

#include <optional>

#include "gui/viewmodel/timeline/scene.h"
#include "gui/viewmodel/timeline/wording.h"

/// Distances between bars.
namespace debubble::gui {

/// The edge of a bar or a gap nearest to pixel `x`, on the row at `y` (from the top of the first
/// row), if one is within kSnap pixels; else the instant under the pixel.
Instant snap(const Scene& scene, const TimeAxis& axis, double x, int y);
inline constexpr double kSnap = 8;

/// The length of a dragged area, the edges at both ends on the row where the drag began, and the
/// area's totals (area_totals.h).
std::vector<Detail> details_of_range(const Scene& scene, const ViewState& state);

/// The next (`by` is 1) or previous (-1) span on the track of a span; the first span of the first
/// row if `ref` is empty. Nothing at the ends.
std::optional<SpanRef> neighbour_of(const Scene& scene, std::optional<SpanRef> ref, int by);

}  // namespace debubble::gui
