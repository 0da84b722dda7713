#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/traces/compare_report.h"
#include "trace/trace.h"

/// A run that a profiler recorded, compared with the prediction of its plan.
namespace debubble::sim {

/// Both traces reduced to their common kinds of actions, under one program: a profiler does not see
/// releases of memory, and reductions in buckets are many where a plan has one.
struct OnCommonGround {
    Trace simulated;
    Trace executed;
    std::vector<std::string> left_out;  ///< sentences about actions that are not compared
};
OnCommonGround on_common_ground(const Trace& simulated, const Trace& executed,
                                const Program& program);

/// The figures of a run if some of its ranks computed as fast as the others do on average: the
/// program simulated with the measured durations, and again with those of the ranks replaced.
struct AsFastAsOthers {
    std::vector<Rank> ranks;
    StepFigures as_measured;  ///< of the replay
    StepFigures levelled;
};

/// A pass of a named rank takes the median of its kind (F, B, I, W) on the other ranks, if that is
/// shorter. Throws InputError for a rank that the trace lacks, if no other rank has such passes, or
/// if the trace has no program to replay.
AsFastAsOthers as_fast_as_others(const Trace& executed, const std::vector<Rank>& ranks);

}  // namespace debubble::sim
