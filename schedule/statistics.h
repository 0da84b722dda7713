#pragma once

#include <array>
#include <string>
#include <vector>

#include "schedule/trace.h"

/// What a trace says in numbers. Definitions as in the README.
namespace debubble {

/// Why a rank computes nothing. Every idle nanosecond inside the makespan has one cause.
enum class BubbleCause : std::uint8_t {
    WarmUp,      ///< before its first compute
    CoolDown,    ///< after its last compute
    Stage,       ///< waits for another rank's compute
    Link,        ///< the message is under way
    Collective,  ///< waits for a gather, reduction or reload
    Optimizer,   ///< waits at the optimizer barrier
};
inline constexpr std::size_t kBubbleCauses = 6;

struct Bubble {
    Rank rank;
    Instant begin;
    Instant end;
    BubbleCause cause{};
    std::size_t waited_for = 0;  ///< index of the span that ended it; spans.size() if none
};

struct RankStatistics {
    Rank rank;
    Duration busy{};     ///< compute, its exposed communication excluded
    Duration exposed{};  ///< communication that nothing hides, inside computes and between them
    Duration optimizer{};
    Duration idle{};  ///< busy + exposed + optimizer + idle = step time
    std::array<Duration, kBubbleCauses> idle_by_cause{};
    double span_bubble = 0;
};

struct Statistics {
    Duration makespan{};  ///< first compute start to last compute end
    Duration step{};      ///< first span start to last span end
    double bubble = 0;
    double span_bubble = 0;  ///< worst rank
    std::vector<RankStatistics> ranks;
    std::vector<Bubble> bubbles;
    std::vector<std::size_t> critical_path;  ///< span indices, in time order
};

Statistics statistics(const Trace& trace);

std::string_view name_of(BubbleCause cause);
std::string_view name_of(Lane lane);

}  // namespace debubble
