#pragma once

#include <string>
#include <vector>

namespace debubble::sim {

/// The words that `debubble list` takes.
std::vector<std::string> listed_kinds();

}  // namespace debubble::sim
