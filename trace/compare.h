#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "trace/error_sums.h"
#include "trace/statistics.h"
#include "trace/trace.h"

/// A predicted step beside an executed one of the same program.
namespace debubble {

/// The step as a whole. Idle times are those of the steady state: they add up, with
/// all else that the ranks do, to ranks x step time.
struct StepFigures {
    Duration step_time{};
    Duration makespan{};
    double bubble = 0;
    double span_bubble = 0;
    std::array<Duration, kBubbleCauses> idle_by_cause{};  ///< sum over the ranks
};

struct RankFigures {
    std::int32_t replica = 0;  ///< the one that idles least
    Duration busy{};
    Duration exposed{};
    Duration optimizer{};
    Duration idle{};  ///< step time less the others
    int place = 0;    ///< by busy time, from 1: the busiest rank
    std::optional<MemoryByClass> peak;
};

struct RankComparison {
    Rank rank;
    Beside<RankFigures> figures;
};

struct ActionDifference {
    Rank rank;
    Action action;
    Beside<Duration> length;
};

struct Comparison {
    Beside<StepFigures> step;
    std::vector<RankComparison> ranks;
    std::vector<ErrorRow> kinds;          ///< those that occur, in the order of Action
    std::vector<ErrorRow> stages;         ///< an Overlap counts for its first compute's
    std::vector<ActionDifference> worst;  ///< at most kMostWorst, the greatest difference first
    Beside<std::size_t> unmatched;        ///< actions that only one of the traces holds
};
inline constexpr std::size_t kMostWorst = 10;

/// Why two traces cannot be laid beside each other: they are of different programs. One
/// sentence.
std::optional<std::string> why_not_comparable(const Trace& simulated, const Trace& executed);

/// Lengths are net_lengths(): without waiting for a peer. Of several steps the median
/// one is taken, of several replicas of a rank the one that idles least.
/// Precondition: why_not_comparable() has nothing to say.
Comparison compare(const Trace& simulated, const Trace& executed);

}  // namespace debubble
