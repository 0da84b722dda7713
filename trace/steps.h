#pragma once

#include "trace/trace.h"

/// Traces of several training steps.
namespace debubble {

/// How many steps a trace holds: each compute occurs once in a step. 0 for a
/// trace without computes.
int steps_in(const Trace& trace);

/// The step of median length (of two middle ones the shorter), with its memory.
/// Its header gets the median distance of the steps' ends as step time, if it
/// names none. A trace of one step is returned as it is.
Trace median_step(const Trace& trace);

}  // namespace debubble
