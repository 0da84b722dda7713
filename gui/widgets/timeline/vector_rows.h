#pragma once

#include <QImage>

#include "gui/widgets/timeline/frame.h"

namespace debubble::gui {

/// Paints the rows of a timeline as shapes and text, for a page: bars, bubbles, memory, labels.
/// Lanes with more bars than a page can show one by one are taken from `raster`, the same frame
/// painted as an image, in which their colours are blended.
void paint_vector_rows(const Frame& frame, const QImage& raster);

}  // namespace debubble::gui
