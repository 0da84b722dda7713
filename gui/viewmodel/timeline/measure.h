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

/// How long a stretch is, from which edge to which, and what a device did in it: busy and idle add
/// up to it. `y` names the row.
std::vector<Detail> details_of_range(const Scene& scene, TimeRange range, int y);

/// The span beside another one on its track, `by` = 1 or -1; the first of the first row if there
/// is none yet. Nothing at the ends.
std::optional<SpanRef> neighbour_of(const Scene& scene, std::optional<SpanRef> ref, int by);

}  // namespace debubble::gui
