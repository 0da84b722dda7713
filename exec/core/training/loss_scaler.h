#pragma once

#include <cstdint>
#include <optional>

#include "exec/core/training/loss_scale_state.h"

namespace debubble::exec {

/// The knobs of torch.cuda.amp.GradScaler, whose defaults these are, and of Colossal-AI's
/// DynamicGradScaler, which adds the bounds and the hysteresis.
struct LossScaleOptions {
    double initial_scale = 65536;
    double min_scale = 1;
    std::optional<double> max_scale = {};
    double growth_factor = 2;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;  ///< good steps in a row
    int hysteresis = 1;                   ///< overflows until the scale shrinks
    friend bool operator==(const LossScaleOptions&, const LossScaleOptions&) = default;
};

/// What the loss is multiplied by, so that small gradients do not vanish in fp16. After
/// `hysteresis` overflows every further one shrinks the scale, until it has grown again.
class LossScaler {
public:
    explicit LossScaler(const LossScaleOptions& options);

    double scale() const { return state_.scale; }
    /// After each step, with the same news on all ranks. A step that overflowed is skipped.
    void update(bool overflow);

    const LossScaleState& state() const { return state_; }
    void restore(const LossScaleState& state) { state_ = state; }

private:
    LossScaleOptions options_;
    LossScaleState state_;
};

}  // namespace debubble::exec
