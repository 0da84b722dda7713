#pragma once

#include <optional>
#include <string>

#include "scenarios/plan/scenario.h"

namespace debubble::exec {

/// The highest rate at which a rank of a run could compute.
struct PeakRate {
    std::optional<double> flops_per_s;  ///< for the precision of the training; unset: not known
    /// The source of the rate, or the reason why it is not known.
    std::string source;
};

/// The peak of this machine's processor, if the scenario's cluster describes a processor: its
/// constants are then those of `gpu.threads` threads, and a rank has `threads`.
PeakRate peak_of_processor(const scenarios::Scenario& scenario, int threads);

}  // namespace debubble::exec
