#pragma once

#include <string>

#include "base/command_line/exit_status.h"
#include "sim/commands/terminal/grid_arguments.h"

namespace debubble::sim {

/// `debubble search --layouts`: the best cut of the layers of one scenario, compared with the
/// uniform one; where none fits, the fastest and the smallest.
ExitStatus search_and_print_layouts(const GridArguments& arguments, const std::string& json);

}  // namespace debubble::sim
