#pragma once

#include <algorithm>

namespace debubble::exec {

/// The factor that clips gradients of this global norm (torch.nn.utils.clip_grad_norm_).
inline double clip_factor(double norm, double max_norm) {
    constexpr double kGuard = 1e-6;  // PyTorch's constant against a norm of zero
    return std::min(1.0, max_norm / (norm + kGuard));
}

}  // namespace debubble::exec
