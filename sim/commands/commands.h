#pragma once

#include <span>
#include <string>
#include <vector>

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

// The completions that a shell offers while a command line is typed.

std::vector<std::string> verb_names(const CLI::App& program);

/// The words that may replace the last of `words`, which follow the program's name; the last one
/// may be empty or partial. Empty where only a file is possible.
std::vector<std::string> completions(const CLI::App& program, std::span<const std::string> words);

}  // namespace debubble::sim
