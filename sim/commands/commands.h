#pragma once

namespace CLI {
class App;
}

/// The verbs of the program `debubble`, one file each.
namespace debubble::sim {

enum class ExitCode {
    Done = 0,
    No = 1,        ///< the answer is no: it does not fit, the schedule is invalid
    BadInput = 2,  ///< a person has to mend what they wrote
    World = 3,     ///< no such device, disk full, a program is missing
};

/// Each adds its verb and options to the program. If the command line asks for
/// that verb, parsing ends in carrying it out, which sets `answer`; InputError
/// and WorldError pass through.
void add_simulate(CLI::App& program, ExitCode& answer);
void add_sweep(CLI::App& program, ExitCode& answer);
void add_search(CLI::App& program, ExitCode& answer);
void add_schedule(CLI::App& program, ExitCode& answer);
void add_validate(CLI::App& program, ExitCode& answer);
void add_validate_cost(CLI::App& program, ExitCode& answer);
void add_model(CLI::App& program, ExitCode& answer);
void add_compare(CLI::App& program, ExitCode& answer);

}  // namespace debubble::sim
