#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/trace.h"

/// The figures of a trace. They are defined in the README.
namespace debubble {

/// The reason why a rank is idle. Every idle nanosecond of the step has one cause. While a
/// collective or a copy of its own runs and no compute does, a rank is not idle: that communication
/// is exposed.
enum class BubbleCause : std::uint8_t {
    WarmUp,      ///< before the rank's first compute
    CoolDown,    ///< after the rank's last compute, while other ranks still compute
    OtherStage,  ///< waits for another rank's compute
    Link,        ///< the message is ready and has not arrived
    Collective,  ///< waits for the peers of a gather or reduction
    Optimizer,   ///< no rank computes any more: the barrier at the optimizer, and after it
    Launch,      ///< all inputs are ready: the host is late
    /// Waits for another rank's compute longer than with even loads. Occurs only in predictions
    /// with uneven loads (sim/uneven).
    UnevenLoad,
};
inline constexpr std::size_t kBubbleCauses = 8;
using IdleByCause = ArrayBy<BubbleCause, Duration, kBubbleCauses>;

/// True for a cause that lists leave out if it takes no time.
constexpr bool is_rare(BubbleCause cause) {
    return cause == BubbleCause::UnevenLoad;
}

struct Bubble {
    Rank rank;
    Instant begin;
    Instant end;
    BubbleCause cause{};
    std::size_t waited_for = 0;  ///< index of the span waited for; spans.size() if none
    friend bool operator==(const Bubble&, const Bubble&) = default;
};

/// The purpose of a communication between computes.
enum class Between : std::uint8_t {
    Replicas,  ///< gathers, reductions, the gradients' norm
    Stages,    ///< the gradients that two stages share
    Host,      ///< copies to the host and back
};
inline constexpr std::size_t kBetween = 3;

/// The figures of one pipeline rank; where replicas differ, of the one that works longest.
struct RankStatistics {
    Rank rank;
    std::int32_t replica = 0;
    Duration busy{};             ///< compute, without its exposed communication
    Duration exposed{};          ///< exposed communication, inside computes and between them
    Duration exposed_between{};  ///< part of `exposed` outside of computes
    /// The parts of `exposed_between` before steps overlap (in_steady_state).
    ArrayBy<Between, Duration, kBetween> exposed_between_by{};
    Duration exposed_after{};  ///< part of `exposed_between` after the last action of the step
    Duration optimizer{};
    Duration idle{};  ///< busy + exposed + optimizer + idle = step time
    IdleByCause idle_by_cause{};
    double span_bubble = 0;  ///< 1 - computes / (last compute end - first compute start)
};

struct Statistics {
    Duration makespan{};     ///< first compute start to last compute end
    Duration step{};         ///< first span start to last span end
    double bubble = 0;       ///< 1 - computes of all ranks / (ranks x makespan)
    double span_bubble = 0;  ///< of the worst rank
    std::vector<RankStatistics> ranks;
    std::vector<Bubble> bubbles;             ///< of the replicas in `ranks`; by rank, then time
    std::vector<std::size_t> critical_path;  ///< span indices, where each waits for the one before
                                             ///< it
};

/// The statistics of a trace, O(n log n) in the spans. The critical path takes a quarter of the
/// time, and stays empty if `with_critical_path` is false.
Statistics statistics(const Trace& trace, bool with_critical_path = true);

/// The account of one of many steps at the distance `step_time`, derived from the account of a
/// single step, where the next step begins before this one has ended everywhere. The time after a
/// rank's last action overlaps the next step and delays nothing, so it is not exposed; and a rank
/// waits once between two steps, not at the end of one and again at the start of the next. The
/// bubbles remain those of the trace. Precondition: no rank works longer than `step_time`.
Statistics in_steady_state(Statistics of_trace, Duration step_time);

/// The account of a step with the time until the next one begins: the time by which it exceeds the
/// trace is the host's, before the first action and after the last one. Precondition: `step_time`
/// is at least the step's own.
Statistics with_time_between(Statistics of_trace, Duration step_time);

/// The time of a rank's computes and optimizer, including the waits inside its computes: no two of
/// its steps follow each other faster.
Duration work_of(const RankStatistics& rank);

/// Sums over the ranks, by cause.
IdleByCause idle_by_cause(const Statistics& statistics);

std::string_view name_of(BubbleCause cause);
std::string_view wording_of(BubbleCause cause);  ///< "waits for a stage", for reports
std::string_view name_of(Lane lane);

/// The hidden all-to-alls of a trace's pairs: the parts of each rank, summed.
struct PairExchange {
    std::size_t pairs = 0;
    Duration exchange{};            ///< all-to-alls of both passes
    Duration hidden{};              ///< part of it during which the rank computes
    Duration hidden_under_gemms{};  ///< part of `hidden` during which GEMMs or attention run
};

/// Zero where no pair's layers alternate, or where the trace has no parts.
PairExchange exchange_of_pairs(const Trace& trace);

}  // namespace debubble
