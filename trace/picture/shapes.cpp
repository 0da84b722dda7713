#include "trace/picture/shapes.h"

#include <algorithm>
#include <cmath>

namespace debubble::picture {

std::pair<Point, Point> bends_of(const Arrow& arrow) {
    const double bend = std::clamp(std::abs(arrow.to.x - arrow.from.x) / 2, 12.0, 80.0);
    return {{arrow.from.x + bend, arrow.from.y}, {arrow.to.x - bend, arrow.to.y}};
}

Polygon head_of(const Arrow& arrow) {
    constexpr double kLength = 7;
    constexpr double kHalfWidth = 3.5;
    const double back = arrow.to.x - kLength;
    return {{arrow.to, {back, arrow.to.y - kHalfWidth}, {back, arrow.to.y + kHalfWidth}},
            arrow.ink};
}

}  // namespace debubble::picture
