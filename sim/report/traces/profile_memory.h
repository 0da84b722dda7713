#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

/// The memory that the ranks of a trace held over time.
namespace debubble::sim {

struct HeldBytes {
    Instant at;
    Bytes held;
    friend bool operator==(const HeldBytes&, const HeldBytes&) = default;
};

struct RankMemory {
    Rank rank;
    Bytes peak;
    Instant at;          ///< since the trace's first action
    std::string action;  ///< the action that ran at the peak; empty between actions
    /// The sum of all classes over time, at most kMostHeldPoints, with the greatest among them: a
    /// point represents itself and the points left out after it.
    std::vector<HeldBytes> held;
};
inline constexpr std::size_t kMostHeldPoints = 512;

/// By rank; nothing for a rank without recorded memory.
std::vector<RankMemory> memory_of_ranks(const Trace& trace);

}  // namespace debubble::sim
