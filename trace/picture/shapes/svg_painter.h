#pragma once

#include <iosfwd>

#include "trace/picture/shapes.h"

namespace debubble::picture {

/// Writes a picture as the text of an SVG file. `top` is the y at which it begins in the picture
/// around it, if there is one.
void write_svg(const Sheets& sheets, double width, double height, std::ostream& out,
               double top = 0);

}  // namespace debubble::picture
