#pragma once

#include <algorithm>
#include <optional>

/// The division of a GPU's multiprocessors among ranks: plain arithmetic, tested without a GPU.
namespace debubble::exec::cuda {

/// The limits on a part: its least number of multiprocessors, and the number that it is a multiple
/// of.
struct SmLimits {
    int least = 1;
    int alignment = 1;
};

/// The limits by major compute capability, where the driver does not report them (CUDA driver API,
/// "Green Contexts": the guideline for each architecture).
constexpr SmLimits sm_limits_of(int major) {
    if (major >= 9) return {8, 8};
    if (major == 8) return {4, 2};
    return {2, 2};
}

/// The multiprocessors of each of `parts` equal parts; nothing where that would be too few. The
/// remainder belongs to no part, so that the parts are alike.
constexpr std::optional<int> sm_of_each(int multiprocessors, int parts, const SmLimits& limits) {
    const int each = multiprocessors / parts / limits.alignment * limits.alignment;
    if (each < std::max(limits.least, 1)) return std::nullopt;
    return each;
}

}  // namespace debubble::exec::cuda
