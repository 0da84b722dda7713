#pragma once

#include <string>

#include "gui/viewmodel/screen.h"

namespace debubble::gui {

/// The command line that shows the screen's content in a terminal: "debubble simulate gpt2-xl
/// --set 'schedule=zb-h1'" for a plan, with the changes of its text against the file on the
/// disk; "debubble compare A B" for two files; empty without either. `text` is the open scenario's.
std::string command_for(const Screen& screen, const ScenarioText& text);

}  // namespace debubble::gui
