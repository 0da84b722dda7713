#pragma once

#include <cstdint>
#include <string>

namespace debubble::sim {

/// The unit of a prediction's figure.
enum class FigureUnit : std::uint8_t { Seconds, Bytes, Rate, Share };

/// "1.164 s", "19.49 GiB", "56,323", "17.2 %"
std::string figure_text(double value, FigureUnit unit);

}  // namespace debubble::sim
