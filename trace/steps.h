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

/// A trace cut into its training steps, in their order.
struct SplitSteps {
    std::vector<Trace> steps;  ///< each with its memory; peaks are those of the whole trace
    std::size_t median = 0;    ///< the one of median length, the shorter of two middle ones
};
/// Where the header has no step time, that of a step is the distance of its end to the end of the
/// step before it, and the median one's the median distance. A trace of one step is returned
/// unchanged.
SplitSteps split_steps(const Trace& trace);

/// The step of median length (the shorter of two middle ones), with its memory. Its header gets the
/// median distance between the ends of steps as step time, if it has none. A trace of one step is
/// returned unchanged.
Trace median_step(const Trace& trace);

}  // namespace debubble
