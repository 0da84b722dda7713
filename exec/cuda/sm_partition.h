#pragma once

#include <algorithm>
#include <optional>

/// How several ranks share the multiprocessors of a GPU: plain arithmetic, tested without one.
namespace debubble::exec::cuda {

/// What a part must have: at least so many, and a multiple of that.
struct SmLimits {
    int least = 1;
    int alignment = 1;
};

/// By major compute capability, where the driver does not say (CUDA driver API, "Green Contexts":
/// the guideline for each architecture).
constexpr SmLimits sm_limits_of(int major) {
    if (major >= 9) return {8, 8};
    if (major == 8) return {4, 2};
    return {2, 2};
}

/// Multiprocessors of each of `parts` equal parts; none where that would be too few. What is over
/// belongs to nobody, so that the parts stay alike.
constexpr std::optional<int> sm_of_each(int multiprocessors, int parts, const SmLimits& limits) {
    const int each = multiprocessors / parts / limits.alignment * limits.alignment;
    if (each < std::max(limits.least, 1)) return std::nullopt;
    return each;
}

}  // namespace debubble::exec::cuda
