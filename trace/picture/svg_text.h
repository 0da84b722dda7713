#pragma once

#include <string>
#include <string_view>

/// Numbers and words as they are written in an SVG file.
namespace debubble::svg {

std::string number(double x);             ///< at most two decimals, no trailing zeros
std::string escaped(std::string_view s);  ///< valid XML whatever the bytes are

/// Width in pixels of a text in DejaVu Sans, estimated on the safe side.
double text_width(std::string_view text, double font_size);

/// The text, or as much of its beginning as fits into `width` pixels, followed by dots.
std::string shortened(std::string_view text, double width, double font_size);

}  // namespace debubble::svg
