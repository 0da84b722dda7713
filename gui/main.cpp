#include <cstdio>
#include <new>
#include <system_error>

#include "base/diagnostic.h"
#include "gui/viewmodel/command_line.h"
#include "gui/viewmodel/export.h"
#include "gui/widgets/application.h"

/// The program `debubble-gui`, which `debubble gui` becomes: a window, or one exported file.
namespace {

using namespace debubble;

enum Exit { kDone = 0, kBadInput = 2, kWorld = 3 };

int print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? kDone : kWorld;
}

int carry_out(int argc, char** argv) {
    // As the verb of debubble, the first word is its name.
    const bool is_verb = argc > 1 && std::string_view(argv[1]) == "gui";
    const gui::CommandLine line = gui::read_command_line({argv + (is_verb ? 2 : 1), argv + argc});
    if (line.help) return print(gui::usage());
    if (line.version) return print("debubble-gui " DEBUBBLE_VERSION "\n");
    if (!line.export_to) return gui::show_window(line, argc, argv);
    if (gui::is_text_format(gui::export_format_of(*line.export_to)))
        gui::export_text(line);  // no Qt: it needs no fonts and no display
    else
        gui::export_picture(line, argc, argv);
    return kDone;
}

int report(int code, const char* prefix, const char* message) {
    const std::string_view text = message;
    std::fprintf(stderr, "%s%s%s", prefix, message, text.ends_with('\n') ? "" : "\n");
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return carry_out(argc, argv);
    } catch (const debubble::InputError& error) {
        return report(kBadInput, "", error.what());
    } catch (const debubble::WorldError& error) {
        return report(kWorld, "error: ", error.what());
    } catch (const std::system_error& error) {
        return report(kWorld, "error: ", error.what());
    } catch (const std::bad_alloc&) {
        return report(kWorld, "error: ", "out of memory");
    } catch (const std::exception& error) {
        return report(kWorld, "internal error, please report it: ", error.what());
    }
}
