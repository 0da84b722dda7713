#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

/// The check that a run executed its schedule.
namespace debubble {

struct OrderOptions {
    std::vector<Bytes> planned_peaks;  ///< by rank; if empty, memory is not compared
    double memory_tolerance = 0.01;    ///< relative to a planned peak, in both directions
};

/// The deviations of a trace from its program, a sentence each; empty if all of these are true:
///
///   each rank carried out exactly its list, in every step of the trace;
///   each stream of a rank in the order of the list: computes and optimizer one
///     after the other, each channel, the gathers, the reductions, the copies;
///   a compute began after its messages, gathers and reloads had ended, a send and
///     a reduction after the maker of their operand, an optimizer step after the
///     reductions listed before it;
///   a message arrived after it was sent, as long as it was sent;
///   each rank's peak memory is the planned one.
///
/// Times are checked only if all lists agree, and may be wrong by TraceHeader::clock_error. At most
/// kMostSentences (executed_checks.h), followed by a note that there are more. Precondition:
/// validate(program) is empty.
std::vector<std::string> executed_in_order(const Program& program, const Trace& trace,
                                           const OrderOptions& options = {});

}  // namespace debubble
