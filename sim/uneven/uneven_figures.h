#pragma once

#include <cstddef>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

/// The figures of steps whose loads were drawn.
namespace debubble::sim {

/// A rank whose slow-down was given, and the step of the same draw without it.
struct SlowRank {
    Rank rank;
    double factor = 1;
    double without_s = 0;
    double cost = 0;  ///< share by which the step is longer than without the slow-down
};

struct UnevenSteps {
    double even_s = 0;            ///< the step if all loads were even and no rank slow
    double p50_s = 0;             ///< nearest rank: of 100 steps the 50th in length
    double p95_s = 0;             ///< and the 95th
    std::vector<Duration> drawn;  ///< the steps by draw; one where nothing is random
    int median = 0;               ///< the draw whose step is p50_s
    std::vector<SlowRank> slow;   ///< the slowest kMostSlowRanks, by what they cost
    std::size_t slow_ranks = 0;   ///< all whose slow-down is above 1
};
inline constexpr std::size_t kMostSlowRanks = 8;

}  // namespace debubble::sim
