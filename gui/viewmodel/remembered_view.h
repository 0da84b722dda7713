#pragma once

#include <string>

#include "gui/viewmodel/timeline/scene.h"

/// The view of a file, kept from one start to the next.
namespace debubble::gui {

/// The view as one line of JSON: the visible part of the step, the open, thin and pinned rows, the
/// colours and the marks. Times are shares of the whole, since the plan may have changed before
/// they are read again.
std::string remembered(const ViewState& state);

/// `now` with the view in `text`; `now` itself if the text is damaged.
ViewState recalled(const std::string& text, ViewState now);

}  // namespace debubble::gui
