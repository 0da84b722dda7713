#pragma once

#include "trace/picture/document/document.h"

namespace debubble::gui {

/// The window shows the same documents, rows and shapes as every other picture of a timeline.
using namespace picture;

}  // namespace debubble::gui
