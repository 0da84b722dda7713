#pragma once

#include <span>
#include <vector>

/// What is made of many timings of the same thing.
namespace debubble::exec {

/// The middle one, or the mean of the middle two. Precondition: not empty.
double median(std::vector<double> values);
/// Median of the distances from the median.
double deviation(const std::vector<double>& values);

struct Line {
    double alpha = 0;  ///< at 0
    double beta = 0;   ///< per unit
};
struct Point {
    double x = 0;
    double y = 0;
};
/// y = alpha + beta x by least squares of the relative errors, so that small messages count as
/// much as great ones; neither is negative. Precondition: two points, x and y positive.
Line fit_line(std::span<const Point> points);

}  // namespace debubble::exec
