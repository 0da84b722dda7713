#pragma once

#include <string>
#include <vector>

/// The words of the window, explained.
namespace debubble::gui {

struct HelpWord {
    std::string word;
    std::string meaning;
};

/// Passes, figures and causes of bubbles, as docs/definitions.md has them.
std::vector<HelpWord> help_words();

/// Every schedule with its summary line.
std::vector<HelpWord> help_schedules();

/// The version of the program: "0.1.0".
std::string program_version();

}  // namespace debubble::gui
