#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "trace/trace.h"

/// What a trace says in numbers. Definitions as in the README.
namespace debubble {

/// Why a rank does nothing. Every idle nanosecond of the step has one cause.
/// While a collective or a copy of its own runs and no compute does, a rank is
/// not idle: that communication is exposed.
enum class BubbleCause : std::uint8_t {
    WarmUp,      ///< before its first compute
    CoolDown,    ///< after its last compute, while other ranks still compute
    OtherStage,  ///< waits for another rank's compute
    Link,        ///< the message is ready and has not arrived
    Collective,  ///< waits for the peers of a gather or reduction
    Optimizer,   ///< nobody computes any more: the barrier at the optimizer, and after it
    Launch,      ///< all that it needs is there: the host is late
};
inline constexpr std::size_t kBubbleCauses = 7;

struct Bubble {
    Rank rank;
    Instant begin;
    Instant end;
    BubbleCause cause{};
    std::size_t waited_for = 0;  ///< index of the span waited for; spans.size() if none
    friend bool operator==(const Bubble&, const Bubble&) = default;
};

/// Of one pipeline rank; where replicas are apart, of the one that works longest.
struct RankStatistics {
    Rank rank;
    std::int32_t replica = 0;
    Duration busy{};     ///< compute, its exposed communication excluded
    Duration exposed{};  ///< communication that nothing hides, inside computes and between them
    Duration exposed_between{};  ///< of `exposed`: outside of computes
    Duration exposed_after{};    ///< of `exposed_between`: after the last action of the step
    Duration optimizer{};
    Duration idle{};  ///< busy + exposed + optimizer + idle = step time
    std::array<Duration, kBubbleCauses> idle_by_cause{};
    double span_bubble = 0;  ///< 1 - computes / (last compute end - first compute start)
};

struct Statistics {
    Duration makespan{};     ///< first compute start to last compute end
    Duration step{};         ///< first span start to last span end
    double bubble = 0;       ///< 1 - computes of all ranks / (ranks x makespan)
    double span_bubble = 0;  ///< worst rank
    std::vector<RankStatistics> ranks;
    std::vector<Bubble> bubbles;             ///< of the replicas in `ranks`; by rank, then time
    std::vector<std::size_t> critical_path;  ///< span indices, each waited for by the next
};

/// O(n log n) in the spans. The critical path costs a quarter of it, and stays empty if
/// it is not wanted.
Statistics statistics(const Trace& trace, bool with_critical_path = true);

/// The account of one step of many whose distance is `step_time`, out of that of a trace of one
/// step where the next one begins before this one has ended everywhere. What lies after a rank's
/// last action lies beside the next step and holds nobody up, so that it is not exposed; and a
/// rank waits once between two steps, not at the end of one and again at the start of the next.
/// The bubbles stay those of the trace. Precondition: no rank works longer than `step_time`.
Statistics in_steady_state(Statistics of_trace, Duration step_time);

/// Computes and optimizer of a rank, and what its computes wait for inside: no two steps of it
/// are closer.
Duration work_of(const RankStatistics& rank);

/// Sum over the ranks, by cause.
std::array<Duration, kBubbleCauses> idle_by_cause(const Statistics& statistics);

std::string_view name_of(BubbleCause cause);
std::string_view wording_of(BubbleCause cause);  ///< "waits for a stage", for people
std::string_view name_of(Lane lane);

}  // namespace debubble
