#pragma once

#include "trace/picture/view.h"

/// The whole picture of a timeline, and its parts around the lanes.
namespace debubble::picture {

/// The title, the legend, the map, the ruler, and the texts left of the rows.
Sheets surroundings(const Timeline& timeline, const View& view);

/// The limit of memory, the peaks and the limits of links, drawn over the rows.
Sheets memory_marks(const Timeline& timeline, const View& view);

/// The point of a device's memory peak: x on the axis, y below the top of the first row; empty
/// without memory.
std::optional<Point> peak_point(const Timeline& timeline, const Row& row, Side side,
                                const TimeAxis& axis);

/// The visible rows: the pinned ones, and the scrolled ones below them.
Sheets row_sheets(const Timeline& timeline, const View& view);

/// The background of the whole picture.
Sheets page_ground(const View& view);

/// The whole picture of a timeline. Precondition: it has a document.
Sheets page(const Timeline& timeline, const View& view);

/// Height of a page on which no row is cut off.
int page_height(const Timeline& timeline, int width);

}  // namespace debubble::picture
