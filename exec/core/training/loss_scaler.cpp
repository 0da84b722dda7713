#include "exec/core/training/gradient_scale.h"

#include <algorithm>

namespace debubble::exec {

LossScaler::LossScaler(const LossScaleOptions& options) : options_(options) {
    state_.scale = options.initial_scale;
    state_.hysteresis_left = options.hysteresis;
}

void LossScaler::update(bool overflow) {
    if (overflow) {
        ++state_.skipped_steps;
        state_.good_steps = 0;
        state_.hysteresis_left = std::max(0, state_.hysteresis_left - 1);
        if (state_.hysteresis_left == 0)
            state_.scale = std::max(options_.min_scale, state_.scale * options_.backoff_factor);
        return;
    }
    if (++state_.good_steps < options_.growth_interval) return;
    state_.good_steps = 0;
    state_.hysteresis_left = options_.hysteresis;
    state_.scale *= options_.growth_factor;
    if (options_.max_scale) state_.scale = std::min(*options_.max_scale, state_.scale);
}

}  // namespace debubble::exec
