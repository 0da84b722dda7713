#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "base/units.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/interpreter/step_record.h"

/// The records of all ranks, brought to rank 0 and onto its clock.
namespace debubble::exec {

/// The offset that turns instants of this rank's host into instants of rank 0's host.
struct ClockOffset {
    Duration add{};
    Duration error{};  ///< the largest possible error: half of the fastest round trip
};

/// A number for the clock that a rank reads, the same for all processes of a running system.
std::int64_t clock_identity();

/// Measures the offset; a collective over all ranks of `world`. Ranks that read rank 0's clock need
/// no correction; the others play ping-pong with rank 0, and the fastest round trip counts
/// (Cristian 1989).
ClockOffset measure_clock_offset(Communicator& world, std::chrono::nanoseconds patience,
                                 std::int64_t identity = clock_identity(),
                                 const std::function<Clock::time_point()>& now = Clock::now);

struct GatheredRecords {
    std::vector<StepRecord> records;  ///< by global rank, on rank 0's clock; empty on other ranks
    /// The error that remains between hosts and between hosts and devices.
    ClockError clock_error;
};

/// Brings the records of all ranks to rank 0; a collective over all ranks of `world`.
GatheredRecords gather_records(Communicator& world, const StepRecord& mine,
                               std::chrono::nanoseconds patience);

}  // namespace debubble::exec
