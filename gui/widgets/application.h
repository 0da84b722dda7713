#pragma once

#include "gui/viewmodel/command_line.h"

/// The modes of the program that use Qt.
namespace debubble::gui {

/// Opens the window and runs its event loop. Throws WorldError if there is no display.
int show_window(const CommandLine& line, int& argc, char** argv);

/// Carries out `--export` to PNG or PDF, which needs fonts but no display.
void export_picture(const CommandLine& line, int& argc, char** argv);

}  // namespace debubble::gui
