#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

/// The completions that a shell offers while a command line is typed.
namespace debubble::sim {

std::vector<std::string> verb_names(const CLI::App& program);

/// The words that may replace the last of `words`, which follow the program's name; the last one
/// may be empty or partial. Empty where only a file is possible.
std::vector<std::string> completions(const CLI::App& program, std::span<const std::string> words);

}  // namespace debubble::sim
