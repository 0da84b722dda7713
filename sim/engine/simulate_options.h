#pragma once

#include <stop_token>

#include "trace/trace.h"

namespace debubble::sim {

struct SimulateOptions {
    /// That of the trace, but for its pipeline, its step time and, with `hash_program`, its hash.
    /// The step is played by its transport, and its computes wait for what it says that blocks.
    TraceHeader header = {.source = TraceSource::Simulated};
    bool follow_memory = true;  ///< fill Trace::memory and Trace::peaks
    bool sample_memory = true;  ///< if false, only the peaks
    bool record_spans = true;   ///< if false, only the times of steps, for searches
    bool keep_program = true;   ///< fill Trace::program where spans are recorded
    bool hash_program = true;   ///< fill TraceHeader::program_hash
    bool by_events = false;     ///< event by event, though flows that never meet need no queue
    int steps = 1;              ///< number of consecutive training steps
    std::stop_token stop = {};  ///< once the trace is not wanted any more, simulate throws
                                ///< Cancelled soon
};

}  // namespace debubble::sim
