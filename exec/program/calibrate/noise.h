#pragma once

#include <string>

#include "scenarios/measured.h"

/// What the spread of repeated measurements tells of the machine that was measured.
namespace debubble::exec {

/// Share of its median by which an operator's timings may be apart (the median of their distances
/// from it) before it counts as noisy. What a quiet machine calibrates is within 3 % of the run
/// behind it (docs/benchmarks.md).
inline constexpr double kNoisy = 0.10;

/// A warning where the noisy operators take more than a tenth of the measured time: how many, the
/// worst of them and by how much, and what to do. Empty where there is nothing to warn of.
std::string noise_warning(const scenarios::Measured& measured, const std::string& file);

}  // namespace debubble::exec
