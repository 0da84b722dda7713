#pragma once

#include <stop_token>

#include "schedule/schedule.h"
#include "schedule/trace.h"
#include "sim/cost_model.h"

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

struct Simulation {
    Trace trace;
    std::vector<Instant> step_ends;  ///< last end of any action of each step played
    std::vector<MemoryPeak> peaks;   ///< one per rank, if memory was followed
    std::size_t events = 0;          ///< handled; for benchmarks
};

/// Plays a lowered program against a cost model: discrete events on integer
/// nanoseconds, ties in the order in which they were asked for. Per rank one
/// compute stream, one stream per channel and one for collectives; flows share
/// links max-min fairly. A pure function: the same arguments give the same
/// trace, and any number may run at once.
///
/// Precondition: validate(program) is empty. Throws InputError if it deadlocks.
Simulation simulate(const Program& program, const CostModel& costs,
                    const SimulateOptions& options = {});

}  // namespace debubble::sim
