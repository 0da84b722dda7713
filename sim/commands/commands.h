#pragma once

#include "base/exit_status.h"

namespace CLI {
class App;
}

/// The verbs of the program `debubble`, one file each.
namespace debubble::sim {

/// Each function adds its verb and options to the program. If the command line asks for that verb,
/// parsing ends with its execution, which sets `answer`; InputError and WorldError pass through.
void add_simulate(CLI::App& program, ExitStatus& answer);
void add_sweep(CLI::App& program, ExitStatus& answer);
void add_search(CLI::App& program, ExitStatus& answer);
void add_schedule(CLI::App& program, ExitStatus& answer);
void add_validate(CLI::App& program, ExitStatus& answer);
void add_validate_cost(CLI::App& program, ExitStatus& answer);
void add_model(CLI::App& program, ExitStatus& answer);
void add_compare(CLI::App& program, ExitStatus& answer);

}  // namespace debubble::sim
