#pragma once

#include "trace/picture/view.h"

/// The parts of a picture around its lanes.
namespace debubble::picture {

/// The title, the legend, the map, the ruler, and the texts beside the rows.
Sheets surroundings(const Timeline& timeline, const View& view);

/// The limit of memory and the peaks, over the rows.
Sheets memory_marks(const Timeline& timeline, const View& view);

/// The point where the peak of a device's memory is drawn, on the axis and below the top of the
/// first row; nothing without memory.
std::optional<Point> peak_point(const Timeline& timeline, const Row& row, Side side,
                                const TimeAxis& axis);

/// The rows in sight: the pinned ones, and those that scroll below them.
Sheets row_sheets(const Timeline& timeline, const View& view);

/// The ground that everything is drawn on.
Sheets page_ground(const View& view);

/// The whole picture of a timeline. Precondition: it has a document.
Sheets page(const Timeline& timeline, const View& view);

/// Height of a page on which no row is cut off.
int page_height(const Timeline& timeline, int width);

}  // namespace debubble::picture
