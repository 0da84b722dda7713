#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/trace.h"

/// Whether the threads that computed had cores: on a busy machine, times are not those of the
/// program.
namespace debubble {

/// The fraction of a rank's time in passes, excluding waits for others, for which its thread had a
/// core. A rank has more threads than this one if its operators have several; the one that calls
/// them waits for those without a core.
struct CoreShare {
    Rank rank;
    std::int32_t replica = 0;
    double share = 1;
};

/// An undisturbed thread has its core for all but a hundredth of the time, which interrupts and
/// page faults take. Below this share, passes last 5 % longer than their work, which is more than
/// the usual error of predictions on calibrated machines.
inline constexpr double kUndisturbed = 0.95;

/// The share in these spans of one rank; unset where no span has its processor time.
std::optional<double> core_share(std::span<const Span> spans);
/// The shares of all ranks with processor times, by rank and replica.
std::vector<CoreShare> core_shares(const Trace& trace);

/// Whether others used the cores: the share is lower than it would be where threads outnumber
/// cores.
bool is_disturbed(double share, double cores_per_thread);

/// "rank 0's threads had a core for 58 % of the time that they computed: repeat on an idle
/// machine", for the most disturbed rank; empty if no rank was disturbed.
std::string busy_machine(const Trace& trace);

}  // namespace debubble
