#pragma once

namespace CLI {
class App;
}

/// The verbs of the program `debubble-exec`, one file each.
namespace debubble::exec {

enum class ExitStatus {
    Done = 0,
    No = 1,        ///< the answer is no: the schedule is invalid
    BadInput = 2,  ///< a person has to mend what they wrote
    World = 3,     ///< no such device, disk full, a rank is lost, the training has diverged
};

/// Each adds its verb and options to the program. If the command line asks for that verb,
/// parsing ends in carrying it out, which sets `answer`; errors pass through.
void add_calibrate(CLI::App& program, ExitStatus& answer);
void add_export(CLI::App& program, ExitStatus& answer);
void add_run(CLI::App& program, ExitStatus& answer);
void add_sample(CLI::App& program, ExitStatus& answer);

}  // namespace debubble::exec
