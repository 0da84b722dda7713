#pragma once

#include <string>

#include <QImage>
#include <QPainter>

#include "gui/viewmodel/timeline/document.h"
#include "gui/widgets/timeline/look.h"
#include "trace/picture/shapes.h"

namespace debubble::gui {

/// Paints a whole timeline. The image has Format_RGB32 and a device pixel ratio; its size is the
/// view's.
void paint_frame(QImage& image, const Scene& scene, const ViewState& state, Look& look);

/// Paints the same as shapes and text, for a page. Lanes with too many bars become an image. The
/// painter's units are those of the view, whose size is `size`.
void paint_page(QPainter& painter, QSize size, const Scene& scene, const ViewState& state,
                Look& look);

/// The same as the text of an SVG file.
std::string svg_of(QSize size, const Scene& scene, const ViewState& state, Look& look);

/// Translates shapes for QPainter, whose font gives the family of all texts.
void paint_sheets(QPainter& painter, const Sheets& sheets);

}  // namespace debubble::gui
