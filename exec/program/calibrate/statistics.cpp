#include "exec/program/calibrate/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace debubble::exec {

double median(std::vector<double> values) {
    assert(!values.empty() && "a median is of some values");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double deviation(const std::vector<double>& values) {
    const double middle = median(values);
    std::vector<double> distances = values;
    for (double& value : distances) value = std::abs(value - middle);
    return median(std::move(distances));
}

Line fit_line(std::span<const Point> points) {
    assert(points.size() >= 2 && "two points make a line");
    // Points have the weight 1 / y^2, since the errors are relative.
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (const Point& p : points) {
        const double weight = 1 / (p.y * p.y);
        w += weight;
        wx += weight * p.x;
        wy += weight * p.y;
        wxx += weight * p.x * p.x;
        wxy += weight * p.x * p.y;
    }
    const double divisor = w * wxx - wx * wx;
    Line line;
    if (divisor > 0) line = {(wxx * wy - wx * wxy) / divisor, (w * wxy - wx * wy) / divisor};
    // If the best line lies outside the quadrant, the best one in it lies on its edge.
    if (line.alpha < 0) line = {0, wxy / wxx};
    if (line.beta < 0) line = {wy / w, 0};
    return line;
}

}  // namespace debubble::exec
