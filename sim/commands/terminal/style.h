#pragma once

#include <string_view>

namespace CLI {
class App;
}

/// How much a verb says, and whether in colour. Set by its options before it runs.
namespace debubble::sim {

/// --quiet and --no-color.
void add_style_options(CLI::App& verb);

/// True if a person wants results in files, errors and the exit code only.
bool is_quiet();

/// Prints a report for a person, unless it is to be quiet.
void print_report(std::string_view text);

}  // namespace debubble::sim
