#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

/// "It ran the schedule", as a checked fact.
namespace debubble {

struct OrderOptions {
    std::vector<Bytes> planned_peaks;  ///< by rank; empty: memory is not compared
    double memory_tolerance = 0.01;    ///< of a planned peak, in both directions
};

/// What in a trace is not as the program says, a sentence each; empty if all is:
///
///   each rank carried out exactly its list, in every step of the trace;
///   each stream of a rank in the order of the list: computes and optimizer one
///     after the other, each channel, the gathers, the reductions, the copies;
///   a compute began when its messages, gathers and reloads had ended, a send and
///     a reduction when what makes their operand had, an optimizer step when the
///     reductions listed before it had;
///   a message arrived after it was sent, as long as it was sent;
///   each rank's peak memory is the planned one.
///
/// Times are looked at once all lists agree, and may be wrong by TraceHeader::clock_error.
/// At most kMostSentences (executed_checks.h), and then that there are more.
/// Precondition: validate(program) is empty.
std::vector<std::string> executed_in_order(const Program& program, const Trace& trace,
                                           const OrderOptions& options = {});

}  // namespace debubble
