#include <cstdio>
#include <exception>
#include <string>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "gui/viewmodel/command_line.h"
#include "gui/viewmodel/export.h"
#include "gui/widgets/application.h"

/// The program `debubble-gui`, which `debubble gui` executes: a window, or one exported file.
namespace {

using namespace debubble;

ExitStatus print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    if (std::fflush(stdout) != 0) throw WorldError("standard output cannot be written");
    return ExitStatus::Done;
}

ExitStatus carry_out(int argc, char** argv) {
    // As a verb of debubble, it gets the verb as its first argument.
    const bool is_verb = argc > 1 && std::string_view(argv[1]) == "gui";
    const gui::CommandLine line = gui::read_command_line({argv + (is_verb ? 2 : 1), argv + argc});
    if (line.help) return print(gui::usage());
    if (line.version) return print("debubble-gui " DEBUBBLE_VERSION "\n");
    if (!line.export_to) return static_cast<ExitStatus>(gui::show_window(line, argc, argv));
    if (gui::is_text_format(gui::export_format_of(*line.export_to)))
        gui::export_text(line);  // without Qt: it needs no fonts and no display
    else
        gui::export_picture(line, argc, argv);
    return ExitStatus::Done;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return static_cast<int>(carry_out(argc, argv));
    } catch (...) {
        return debubble::report(debubble::ending_of(std::current_exception()));
    }
}
