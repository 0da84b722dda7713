#pragma once

#include <string>

#include "gui/viewmodel/screen.h"

namespace debubble::gui {

/// The command line that shows in a terminal what is on the screen: "debubble simulate gpt2-xl
/// --set 'schedule=zb-h1'" for a plan, with what its text has changed of the file on the disk;
/// "debubble compare A B" for two files; empty for nothing. `text` is the open scenario's.
std::string command_for(const Screen& screen, const ScenarioText& text);

}  // namespace debubble::gui
