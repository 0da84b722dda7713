#pragma once

#include <QPainter>

#include "gui/viewmodel/timeline/document.h"
#include "trace/picture/shapes.h"

namespace debubble::gui {

/// Translates shapes for QPainter, whose font gives the family of all texts.
void paint_sheets(QPainter& painter, const Sheets& sheets);

}  // namespace debubble::gui
