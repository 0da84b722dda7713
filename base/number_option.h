#pragma once

#include <functional>
#include <string>

namespace debubble {

/// What checks the text of an option that takes a real number from `least` to `most`: nothing if
/// it is one, else a sentence. Not a number, which no comparison finds, is none.
std::function<std::string(const std::string&)> real_number(double least, double most);

}  // namespace debubble
