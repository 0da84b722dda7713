#pragma once

#include <string_view>

namespace CLI {
class App;
}

/// The verbosity of a verb, and whether it uses colour. Set by its options before it runs.
namespace debubble::sim {

/// --quiet and --no-color.
void add_style_options(CLI::App& verb);

/// True if only results in files, errors and the exit code are wanted.
bool is_quiet();

/// Prints a report for a person, unless the program is quiet.
void print_report(std::string_view text);

}  // namespace debubble::sim
