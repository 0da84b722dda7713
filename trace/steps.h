#pragma once

#include <vector>

#include "trace/trace.h"

/// Traces of several training steps.
namespace debubble {

/// The number of steps in a trace: each compute occurs once in a step. 0 for a trace without
/// computes.
int steps_in(const Trace& trace);

/// The step of every span, from 0: the occurrences of an action on a rank are distributed evenly.
std::vector<int> step_of_spans(const Trace& trace, int steps);

/// The step of median length (the shorter of two middle ones), with its memory. Its header gets the
/// median distance between the ends of steps as step time, if it has none. A trace of one step is
/// returned as it is.
Trace median_step(const Trace& trace);

}  // namespace debubble
