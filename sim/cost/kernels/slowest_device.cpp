#include "sim/cost/kernels/kernel_cost.h"

#include <algorithm>

#include <boost/math/distributions/normal.hpp>

#include "models/execution/laws.h"

namespace debubble::sim {

double greatest_of_normal(int values) {
    if (values <= 1) return 0;
    return quantile(boost::math::normal(), (values - 0.375) / (values + 0.25));
}

double slowest_clock(const scenarios::Gpu& gpu, int devices) {
    if (gpu.clock_spread == 0 || devices <= 1) return gpu.kept_clock();
    const double deviations = greatest_of_normal(devices);
    return gpu.kept_clock() *
           std::max(models::laws().least_clock, 1 - gpu.clock_spread * deviations);
}

}  // namespace debubble::sim
