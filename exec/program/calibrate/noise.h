#pragma once

#include <string>

#include "scenarios/cluster/measured.h"

/// The quality of a measurement, from the spread of its repetitions.
namespace debubble::exec {

/// An operator is noisy if the median distance of its timings from their median exceeds this share
/// of it. On a quiet machine, calibrated figures are within 3 % of those of the next run
/// (docs/benchmarks.md).
inline constexpr double kNoisy = 0.10;

/// A warning if the noisy operators take more than a tenth of the measured time: how many there
/// are, the worst of them and their spread, and what to do. Empty if there is nothing to warn of.
std::string noise_warning(const scenarios::Measured& measured, const std::string& file);

/// A warning if others used the cores of the threads that were timed; else empty.
std::string busy_warning(const scenarios::Measured& measured, const std::string& file);

}  // namespace debubble::exec
