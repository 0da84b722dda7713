#pragma once

#include <cstdint>

namespace debubble::exec {

/// The state of dynamic loss scaling.
struct LossScaleState {
    double scale = 1;
    std::int64_t good_steps = 0;  ///< good steps since the scale was last changed
    int hysteresis_left = 0;
    std::int64_t skipped_steps = 0;
    friend bool operator==(const LossScaleState&, const LossScaleState&) = default;
};

}  // namespace debubble::exec
