#pragma once

#include <string>

#include "gui/viewmodel/timeline/scene.h"

/// How a person looked at a file, kept from one start to the next.
namespace debubble::gui {

/// What part of the step was shown, which rows were opened, made thin or pinned, the colours and
/// the marks, as one line of JSON. Times are shares of the whole: the plan may have changed since.
std::string remembered(const ViewState& state);

/// `now` with what `text` remembers of a view; `now` itself if the text is damaged.
ViewState recalled(const std::string& text, ViewState now);

}  // namespace debubble::gui
