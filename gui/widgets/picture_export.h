#pragma once

#include <QSize>
#include <QString>

#include "gui/viewmodel/command_line.h"

namespace debubble::gui {

class TimelineView;

/// The timeline as it is shown into a PNG, twice as fine, or as shapes and text onto a page of PDF.
/// `size`: in pixels of the screen; an empty one is TimelineView::export_size(). Written aside and
/// renamed. Throws WorldError.
void write_picture(TimelineView& timeline, const QString& file, ExportFormat format, QSize size);

}  // namespace debubble::gui
