#include "scenarios/cluster.h"

#include <cmath>

namespace debubble::scenarios {

double Gpu::kept_clock() const {
    if (power_limit <= 0 || power <= 0 || power_limit >= power) return sustained_clock;
    const double clockless = kClocklessPower * power;
    return sustained_clock * std::cbrt((power_limit - clockless) / (power - clockless));
}

}  // namespace debubble::scenarios
