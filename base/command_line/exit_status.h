#pragma once

#include <exception>
#include <stdexcept>
#include <string>

/// The ways in which the programs of debubble end.
namespace debubble {

enum class ExitStatus {
    Done = 0,
    No = 1,        ///< the answer is no: it does not fit, the schedule is invalid
    BadInput = 2,  ///< a person must correct their input
    World = 3,     ///< no such device, disk full, a peer is lost, the training has diverged
};

/// The input is right, and the answer is no: exit code 1. what() is that answer.
class NegativeAnswer : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Ending {
    ExitStatus status = ExitStatus::Done;
    std::string message;  ///< text for standard error, its last newline included
};

/// The meaning of an uncaught exception for the caller of the program.
Ending ending_of(const std::exception_ptr& error);

/// Writes the message after the program's other output; returns the code for main().
int report(const Ending& ending);

}  // namespace debubble
