#include "scenarios/cluster/cluster.h"

#include <cmath>

#include "models/execution/laws.h"

namespace debubble::scenarios {

double Gpu::clock_under_limit() const {
    if (!power_limit || !power || *power_limit >= *power) return 1;
    const double clockless = models::laws().clockless_power * *power;
    return std::cbrt((*power_limit - clockless) / (*power - clockless));
}

double Gpu::kept_clock(models::Narrow operands) const {
    const bool narrow = operands != models::Narrow::None;
    const double clock = narrow ? fp8_sustained_clock.value_or(sustained_clock) : sustained_clock;
    return clock_under_limit() * clock * chip;
}

}  // namespace debubble::scenarios
