#include "sim/commands/terminal/output.h"

#include <cstdio>
#include <cstdlib>

#include <CLI/CLI.hpp>

namespace debubble::sim {
namespace {

bool hushed = false;

}  // namespace

void add_style_options(CLI::App& verb) {
    verb.add_flag_callback(
        "--quiet", [] { hushed = true; },
        "no report, notes or progress: only what options ask for");
    verb.add_flag_callback(
        "--no-color", [] { ::setenv("NO_COLOR", "1", 1); },
        "no colours on a terminal, as with NO_COLOR");
}

bool is_quiet() {
    return hushed;
}

void print_report(std::string_view text) {
    if (!hushed) std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace debubble::sim
