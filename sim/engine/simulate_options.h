#pragma once

#include <stop_token>

namespace debubble::sim {

struct SimulateOptions {
    bool sends_block = false;       ///< a rank's next compute waits for the sends before it
    bool copies_block = false;      ///< offloads and reloads are made between the computes
    bool reductions_block = false;  ///< the next compute waits for a ReduceGrad of one holder
    bool follow_memory = true;      ///< fill Trace::memory and Trace::peaks
    bool sample_memory = true;      ///< off: only the peaks
    bool record_spans = true;       ///< off: only the times below, for searches
    int steps = 1;                  ///< consecutive training steps played
    std::stop_token stop = {};      ///< the trace is no longer wanted: throws Cancelled soon
};

}  // namespace debubble::sim
