#pragma once

#include <string>

#include "schedule/action.h"

namespace debubble::picture {

/// An action in words, such as "forward of stage 2, microbatch 3".
std::string describe(const Action& action);

}  // namespace debubble::picture
