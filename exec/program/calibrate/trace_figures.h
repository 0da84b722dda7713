#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "trace/trace.h"

/// What the steps of a trace say about the machine, before a plan explains it.
namespace debubble::exec {

/// Net lengths (seconds) and bytes of the actions of one kind.
struct KindTimes {
    std::vector<double> lengths;
    double bytes = 0;
    double mean() const;
    double mean_bytes() const;
};
using KindsOfTrace =
    std::map<std::size_t, KindTimes>;  ///< by the index of the Action's alternative

KindsOfTrace kind_times(const std::vector<Trace>& steps);

template <class Alternative>
KindTimes times_of(const KindsOfTrace& kinds) {
    const auto found = kinds.find(Action(Alternative{}).index());
    return found == kinds.end() ? KindTimes{} : found->second;
}

/// The steps of the middle half by length, each a trace: a step that the machine disturbed is not
/// typical. All steps, where there are fewer than four.
std::vector<Trace> typical_steps(const Trace& trace);

/// Times of the host, seconds. A mean where times add up over a step, so that it may be much more
/// than the median: threads that move messages wait for a core of the computes.
struct HostTimes {
    /// Mean from when all that a pass waits for had ended until it began.
    double before_pass = 0;
    /// Median from the end of a pass until its message's Send began.
    double before_send = 0;
    /// Median from the end of one step until the next one began; of one step, what its length is
    /// more than its actions, if the trace says its length.
    double between_steps = 0;
    /// Share of the messages during which their sender computed. Where senders wait for their
    /// messages it is nearly 0; otherwise the ranks that decide the step's length always do.
    double sends_beside_computes = 1;
};
HostTimes host_times(const Trace& trace, const std::vector<Trace>& steps);

}  // namespace debubble::exec
