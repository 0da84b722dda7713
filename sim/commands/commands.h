#pragma once

#include "base/command_line/exit_status.h"

namespace CLI {
class App;
}

/// The verbs of the program `debubble`, one file each.
namespace debubble::sim {

/// Adds the verbs, in the order of the help, and their options to the program. If the command line
/// asks for one of them, parsing ends with its execution, which sets `answer`; InputError and
/// WorldError pass through.
void add_verbs(CLI::App& program, ExitStatus& answer);

/// Comes after all other verbs, whose help it shows.
void add_help(CLI::App& program, ExitStatus& answer);

}  // namespace debubble::sim
