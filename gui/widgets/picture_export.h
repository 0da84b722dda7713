#pragma once

#include <QSize>
#include <QString>

#include "gui/viewmodel/command_line.h"

namespace debubble::gui {

class TimelineView;

/// Writes the shown timeline to a PNG of twice the resolution, or as shapes and text to an SVG or
/// to a page of PDF. `size` is in pixels of the screen; an empty one means
/// TimelineView::export_size(). The file is written under another name and renamed. Throws
/// WorldError.
void write_picture(TimelineView& timeline, const QString& file, ExportFormat format, QSize size);

}  // namespace debubble::gui
