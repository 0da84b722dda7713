#include "sim/cost/slowest_device.h"

#include <algorithm>

#include <boost/math/distributions/normal.hpp>

namespace debubble::sim {

double slowest_clock(const scenarios::Gpu& gpu, int devices) {
    constexpr double kLeastShare = 0.5;  // of a clock far from what a distribution of chips says
    if (gpu.clock_spread == 0 || devices <= 1) return gpu.kept_clock();
    const double place = (devices - 0.375) / (devices + 0.25);
    const double deviations = quantile(boost::math::normal(), place);
    return gpu.kept_clock() * std::max(kLeastShare, 1 - gpu.clock_spread * deviations);
}

}  // namespace debubble::sim
