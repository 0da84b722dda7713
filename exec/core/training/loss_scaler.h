#pragma once

#include "exec/core/training/loss_scale_state.h"
#include "scenarios/plan/run_options.h"

namespace debubble::exec {

using scenarios::LossScaleOptions;

/// The factor on the loss that keeps small gradients from vanishing in fp16. After `hysteresis`
/// overflows every further one shrinks the scale, until it has grown again.
class LossScaler {
public:
    explicit LossScaler(const LossScaleOptions& options);

    double scale() const { return state_.scale; }
    /// Called after each step, with the same argument on all ranks. A step that overflowed is
    /// skipped.
    void update(bool overflow);

    const LossScaleState& state() const { return state_; }
    void restore(const LossScaleState& state) { state_ = state; }

private:
    LossScaleOptions options_;
    LossScaleState state_;
};

}  // namespace debubble::exec
