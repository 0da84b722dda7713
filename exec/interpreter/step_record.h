#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "exec/comm/communicator.h"
#include "schedule/schedule.h"
#include "schedule/trace.h"

/// What one rank did in one step, and when.
namespace debubble::exec {

/// Instants are those of the Clock of the rank's host.
struct StepRecord {
    Rank rank;
    std::int32_t replica = 0;
    std::vector<Span> spans;           ///< in the order in which their ends became known
    std::vector<MemorySample> memory;  ///< by time
    MemoryPeak peak;
};

inline Instant instant_of(Clock::time_point at) {
    return Instant{std::chrono::duration_cast<Duration>(at.time_since_epoch())};
}

/// Where an action runs.
Lane lane_of(const Action& action);

/// Makes the record while the step goes on.
class Recorder {
public:
    Recorder(Rank rank, std::int32_t replica) : record_{rank, replica, {}, {}, {}} {}

    /// `exposed`: of a pass, in which it stood still for communication.
    void span(const Action& action, Interval when, Bytes moved = {}, Duration exposed = {});
    /// The level of memory from `at` on; classes that have not changed are not repeated.
    void level(Clock::time_point at, const MemoryByClass& held);
    StepRecord finish(MemoryPeak peak) &&;

private:
    StepRecord record_;
    MemoryByClass last_{};
};

/// The steps of all ranks as one trace without header: times count from the first action,
/// memory is that of the replica that held most.
/// Precondition: the records' instants are of one clock.
Trace trace_of(std::vector<StepRecord> records);

}  // namespace debubble::exec
