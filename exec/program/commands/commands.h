#pragma once

#include "base/exit_status.h"

namespace CLI {
class App;
}

/// The verbs of the program `debubble-exec`, one file each.
namespace debubble::exec {

/// Each function adds its verb and options to the program. If the command line asks for that verb,
/// parsing ends in carrying it out, which sets `answer`; errors pass through.
void add_calibrate(CLI::App& program, ExitStatus& answer);
void add_export(CLI::App& program, ExitStatus& answer);
void add_run(CLI::App& program, ExitStatus& answer);
void add_sample(CLI::App& program, ExitStatus& answer);

}  // namespace debubble::exec
