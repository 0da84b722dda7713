#pragma once

#include "base/command_line/exit_status.h"

namespace CLI {
class App;
}

/// The verbs of the program `debubble-exec`, one file each.
namespace debubble::exec {

/// Adds the verbs and their options to the program. If the command line asks for one of them,
/// parsing ends with its execution, which sets `answer`; errors pass through.
void add_verbs(CLI::App& program, ExitStatus& answer);

}  // namespace debubble::exec
