#pragma once

#include <QString>

#include "gui/viewmodel/command_line.h"

namespace debubble::gui {

class TimelineView;

/// The timeline as it is shown, twice as fine, into a PNG or a page of PDF; written aside and
/// renamed. Throws WorldError.
void write_picture(TimelineView& timeline, const QString& file, ExportFormat format);

}  // namespace debubble::gui
