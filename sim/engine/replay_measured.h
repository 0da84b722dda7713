#pragma once

#include "schedule/schedule.h"
#include "trace/trace.h"

namespace debubble::sim {

/// Plays a program again with the durations that a trace of it measured: each compute
/// and each message its own net length (net_lengths()), collectives and copies the mean
/// of their kind on that stage. What then still differs from the trace are gaps that no
/// action accounts for, and what the simulator gets wrong about order, overlap and
/// waiting; what differs from a prediction is its cost model. Without memory.
///
/// Of several steps the median one counts, of several replicas of a rank the one that
/// idles least. Throws InputError naming an action of the program that the trace does
/// not hold. Precondition: validate(program) is empty.
Trace replay_measured(const Program& program, const Trace& measured);

}  // namespace debubble::sim
