#pragma once

#include <string>
#include <string_view>

/// Numbers and text in an SVG file.
namespace debubble::svg {

std::string number(double x);             ///< at most two decimals, no trailing zeros
std::string escaped(std::string_view s);  ///< valid XML for any bytes

/// An upper estimate of the width in pixels of a text in DejaVu Sans.
double text_width(std::string_view text, double font_size);

/// The text, or the longest beginning that fits into `width` pixels, with an ellipsis.
std::string shortened(std::string_view text, double width, double font_size);

}  // namespace debubble::svg
