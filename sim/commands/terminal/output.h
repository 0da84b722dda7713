#pragma once

#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

/// How a verb communicates with its user: verbosity and colour, results, and Ctrl-C.
namespace debubble::sim {

/// --quiet and --no-color.
void add_style_options(CLI::App& verb);

/// True if only results in files, errors and the exit code are wanted.
bool is_quiet();

/// Prints a report for a person, unless the program is quiet.
void print_report(std::string_view text);

/// Writes a result: to standard output if `where` is "-", else to a file, which is then either
/// written whole or left untouched. Throws WorldError.
void write_output(const std::string& where, std::string_view content);

/// True if the stream is a terminal, and NO_COLOR is not set.
bool is_terminal(std::FILE* stream);

/// Throws WorldError if the printed text was not written (a full disk).
void flush_standard_output();

/// While an object of this type exists, Ctrl-C (SIGINT) and SIGTERM set a flag instead of ending
/// the process, so that work can be stopped cleanly. One at a time.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    const std::atomic<bool>& flag() const;
    /// Ends the process by the signal that was caught, as its parent expects.
    [[noreturn]] void end_by_signal();
};

}  // namespace debubble::sim
