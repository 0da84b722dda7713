#pragma once

#include <functional>
#include <string>

namespace debubble {

/// A check of the text of an option that takes a real number from `least` to `most`. It returns
/// nothing if the text is such a number, else a sentence; NaN is refused too.
std::function<std::string(const std::string&)> real_number(double least, double most);

}  // namespace debubble
