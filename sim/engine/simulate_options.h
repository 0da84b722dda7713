#pragma once

#include <stop_token>

#include "schedule/transport.h"

namespace debubble::sim {

struct SimulateOptions {
    Transport transport = Transport::Own;  ///< which messages wait for each other
    bool sends_block = false;              ///< a rank's next compute waits for the sends before it
    bool copies_block = false;             ///< offloads and reloads run between the computes
    bool reductions_block = false;  ///< the next compute waits for a ReduceGrad of one holder
    bool follow_memory = true;      ///< fill Trace::memory and Trace::peaks
    bool sample_memory = true;      ///< if false, only the peaks
    bool record_spans = true;       ///< if false, only the times of steps, for searches
    bool keep_program = true;       ///< fill Trace::program where spans are recorded
    bool hash_program = true;       ///< fill TraceHeader::program_hash
    bool by_events = false;         ///< event by event, though flows that never meet need no queue
    int steps = 1;                  ///< number of consecutive training steps
    std::stop_token stop = {};      ///< once the trace is not wanted any more, simulate throws
                                    ///< Cancelled soon
};

}  // namespace debubble::sim
