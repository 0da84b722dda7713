#pragma once

#include "trace/picture/view.h"

namespace debubble::picture {

/// The title, and below it what the colours mean: the causes of idle time with their share of the
/// ranks' time, the greatest first, and what the exposed communication serves; in a second line
/// bars and memory. What does not occur is not named.
Shapes head_shapes(const Timeline& timeline, const View& view);

}  // namespace debubble::picture
