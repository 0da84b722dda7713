#pragma once

#include <optional>
#include <string>

#include "scenarios/scenario.h"

namespace debubble::exec {

/// What a rank of a run could compute at best.
struct PeakRate {
    std::optional<double> flops_per_s;  ///< in the precision trained in; unset: not known
    std::string source;                 ///< who says so, or why nobody does
};

/// Of this machine's processor, if the scenario's cluster is one like it: then its constants are
/// those of some threads (`gpu.threads`), and a rank has `threads`.
PeakRate peak_of_processor(const scenarios::Scenario& scenario, int threads);

}  // namespace debubble::exec
