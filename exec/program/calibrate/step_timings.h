#pragma once

#include <optional>
#include <vector>

#include "exec/core/interpreter/step_record.h"

/// What the record of a step tells of the times that no operator accounts for.
namespace debubble::exec {

/// Of one rank and step; seconds.
struct StepTimings {
    int passes = 0;        ///< with recomputations and overlaps
    double in_passes = 0;  ///< their sum
    /// Between an action of the compute lane and a pass behind it that waits for no message.
    std::vector<double> gaps;
    /// From the call to the first pass, if that waits for no message: gradients are zeroed.
    std::optional<double> before_first;
    std::optional<double> optimizer;
    /// From the last pass to the optimizer, without the time of collectives: the sum of
    /// squares of a norm. Ranks that were early have waited in it.
    std::optional<double> norm;
    double behind_last = 0;  ///< from the last action's end to the return of the call
};

/// `begin`, `end`: when the step was asked for and when it returned.
StepTimings timings_of(const StepRecord& record, Instant begin, Instant end, int stage_count);

}  // namespace debubble::exec
