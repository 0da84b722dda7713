#pragma once

#include <span>
#include <vector>

/// Summaries of many timings of the same thing.
namespace debubble::exec {

/// The middle value, or the mean of the middle two. Precondition: `values` is not empty.
double median(std::vector<double> values);
/// The median of the distances from the median.
double deviation(const std::vector<double>& values);

struct Line {
    double alpha = 0;  ///< value at x = 0
    double beta = 0;   ///< slope per unit of x
};
struct Point {
    double x = 0;
    double y = 0;
};
/// Fits y = alpha + beta x by least squares of the relative errors, so that small messages count as
/// much as large ones; neither coefficient is negative. Precondition: there are at least two
/// points, with positive x and y.
Line fit_line(std::span<const Point> points);

}  // namespace debubble::exec
