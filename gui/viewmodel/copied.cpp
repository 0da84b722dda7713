#include "gui/viewmodel/copied.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/overloaded.h"
#include "scenarios/read/edit.h"
#include "text/shipped_files.h"

namespace debubble::gui {
namespace {

/// A word of a shell: quoted unless it is plain.
std::string quoted(const std::string& word) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._-/=:+,%@").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::ranges::all_of(word, plain)) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// A shipped scenario's name, or the file as it is.
std::string name_of_file(const std::string& file) {
    std::error_code error;
    const auto folder = std::filesystem::weakly_canonical(text::data_folder() / "scenarios", error);
    const auto path = std::filesystem::weakly_canonical(file, error);
    return path.parent_path() == folder ? path.stem().string() : file;
}

std::string simulate_line(const ScenarioText& now) {
    std::string line = "debubble simulate " + quoted(name_of_file(now.file));
    try {
        const std::string kept = read_file(now.file);
        for (const auto& [key, value] : scenarios::changes_between(kept, now.text, now.file))
            line += " --set " + quoted(key + '=' + value);
    } catch (const std::exception&) {  // the file is gone, or the text is not YAML yet
        line += "  # as saved";
    }
    return line;
}

}  // namespace

std::string command_for(const Screen& screen, const ScenarioText& text) {
    return std::visit(Overloaded{
                          [](const on_screen::Nothing&) { return std::string(); },
                          [&](const on_screen::Plan&) { return simulate_line(text); },
                          [](const on_screen::Trace& shown) {
                              return "debubble gui " + quoted(shown.trace.file);
                          },
                          [&](const on_screen::Comparison& both) {
                              return both.compares == Compares::Files
                                         ? fmt::format("debubble compare {} {}",
                                                       quoted(both.a.file), quoted(both.b.file))
                                         : simulate_line(text);
                          },
                      },
                      screen);
}

}  // namespace debubble::gui
