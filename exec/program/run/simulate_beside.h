#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace debubble::exec {

/// Whether the other program's mistakes go to standard error.
enum class Mistakes : std::uint8_t { Said, Unsaid };

/// What `debubble simulate` writes to the file of its option `output` ("--trace", "--json"), by the
/// program beside this one, which predicts what this one cannot. Nothing if it is missing, fails,
/// or takes minutes. Throws WorldError if there is no room for a temporary file.
std::optional<std::string> simulate_beside(const std::string& scenario,
                                           const std::vector<std::string>& set,
                                           const std::string& output, Mistakes mistakes);
/// The program's path.
std::string program_beside();

}  // namespace debubble::exec
