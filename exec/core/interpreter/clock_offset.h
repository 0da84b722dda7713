#pragma once

#include <chrono>
#include <functional>

#include "base/units.h"
#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// What to add to instants of this rank's host to get those of rank 0's.
struct ClockOffset {
    Duration add{};
    Duration error{};  ///< at most so much wrong: half of the fastest round trip
};

/// Which clock a rank reads: the same number for all processes of a running system.
std::int64_t clock_identity();

/// Collective over all ranks of `world`. Those who read rank 0's clock need no
/// correction; the others play ping-pong with rank 0, and the fastest round trip counts
/// (Cristian 1989).
ClockOffset measure_clock_offset(Communicator& world, std::chrono::nanoseconds patience,
                                 std::int64_t identity = clock_identity(),
                                 const std::function<Clock::time_point()>& now = Clock::now);

}  // namespace debubble::exec
