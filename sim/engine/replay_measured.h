#pragma once

#include "schedule/schedule.h"
#include "trace/trace.h"

namespace debubble::sim {

/// Plays a program again with the durations that a trace of it measured: each compute and each
/// message its own net length (net_lengths()), collectives and copies the mean of their kind on
/// that stage. The remaining difference from the trace comes from gaps between actions and from the
/// simulator's errors in order, overlap and waiting; the difference from a prediction comes from
/// its cost model. Memory is not followed.
///
/// Of several steps the median one counts, of several replicas of a rank the one that idles least.
/// Throws InputError naming an action of the program that the trace does not hold. Precondition:
/// validate(program) is empty.
Trace replay_measured(const Program& program, const Trace& measured);

}  // namespace debubble::sim
