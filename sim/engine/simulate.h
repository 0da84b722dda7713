#pragma once

#include "schedule/schedule.h"
#include "sim/engine/cost_model.h"
#include "sim/engine/simulate_options.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/rank_ledger.h"
#include "trace/trace.h"

namespace debubble::sim {

struct Simulation {
    Trace trace;
    std::vector<Instant> step_ends;  ///< last end of any action of each step played
    std::vector<MemoryPeak> peaks;   ///< one per rank, if memory was followed
    /// The times of the first step's actions, by rank and position, if memory was followed.
    std::vector<std::vector<ActionTimes>> times;
    std::size_t events = 0;  ///< number of events handled, for benchmarks
};

/// Plays a lowered program against a cost model: discrete events on integer nanoseconds, ties in
/// the order in which they were requested. Each rank has one compute stream, one stream per channel
/// and one for collectives; flows share links max-min fairly. A pure function: the same arguments
/// give the same trace, and any number may run at once.
///
/// Precondition: validate(program) is empty. Throws InputError if it deadlocks.
Simulation simulate(const Program& program, const CostModel& costs, const MemoryModel& memory,
                    const SimulateOptions& options = {});

/// The same on ranks that hold nothing.
Simulation simulate(const Program& program, const CostModel& costs,
                    const SimulateOptions& options = {});

}  // namespace debubble::sim
