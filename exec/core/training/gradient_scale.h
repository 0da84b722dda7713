#pragma once

#include <algorithm>
#include <cstdint>

#include "scenarios/plan/run_options.h"

/// The factors on the gradients of a step: clipping and loss scaling.
namespace debubble::exec {

/// The factor that clips gradients of this global norm (torch.nn.utils.clip_grad_norm_).
inline double clip_factor(double norm, double max_norm) {
    constexpr double kGuard = 1e-6;  // PyTorch's constant against a norm of zero
    return std::min(1.0, max_norm / (norm + kGuard));
}

/// The state of dynamic loss scaling.
struct LossScaleState {
    double scale = 1;
    std::int64_t good_steps = 0;  ///< good steps since the scale was last changed
    int hysteresis_left = 0;
    std::int64_t skipped_steps = 0;
    friend bool operator==(const LossScaleState&, const LossScaleState&) = default;
};

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
