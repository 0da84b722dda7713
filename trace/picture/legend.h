#pragma once

#include "trace/picture/view.h"

namespace debubble::picture {

/// The title, and below it the legend: the causes of idle time with their shares of the ranks'
/// time, the greatest first, and the purposes of exposed communication; in a second line bars and
/// memory. Only colours that occur are explained.
Shapes head_shapes(const Timeline& timeline, const View& view);

}  // namespace debubble::picture
