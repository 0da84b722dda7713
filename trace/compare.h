#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "schedule/action.h"
#include "trace/statistics.h"
#include "trace/trace.h"

/// The comparison of a predicted step with an executed one of the same program.
namespace debubble {

/// A value of the simulated step and the same value of the executed one.
template <class T>
struct Compared {
    T simulated{};
    T executed{};
    friend bool operator==(const Compared&, const Compared&) = default;
};

/// (simulated - executed) / executed: positive if the prediction is too long. Nothing where both
/// are 0, or only the executed one is.
std::optional<double> relative_error(const Compared<Duration>& times);

Duration apart(const Compared<Duration>& times);  ///< >= 0

/// The actions of one kind, or the computes of one stage.
struct ErrorRow {
    std::string name;       ///< "F", "SEND", "REDUCE_GRAD"; "stage 2"
    std::size_t count = 0;  ///< actions in both traces
    Compared<Duration> sum;
    Duration apart{};  ///< sum of their absolute differences

    std::optional<double> mean_error() const;  ///< apart / executed
    std::optional<double> bias() const { return relative_error(sum); }
};

/// Sums by kind of action and by stage.
class ErrorSums {
public:
    void add(const Action& action, const Compared<Duration>& length);
    /// The rows of the kinds that occur, in the order of Action.
    std::vector<ErrorRow> kinds() const;
    /// The rows of computes by stage; an Overlap counts for its first compute's stage.
    std::vector<ErrorRow> stages() const;

private:
    std::map<std::pair<std::size_t, Pass>, ErrorRow> kinds_;
    std::map<Stage, ErrorRow> stages_;
};

/// The figures of a whole step. Idle times are those of the steady state: together with all other
/// times of the ranks they sum to ranks x step time.
struct StepFigures {
    Duration step_time{};
    Duration makespan{};
    double bubble = 0;
    double span_bubble = 0;
    IdleByCause idle_by_cause{};  ///< sum over the ranks
};

struct RankFigures {
    std::int32_t replica = 0;  ///< the replica that idles least
    Duration busy{};
    Duration exposed{};
    Duration optimizer{};
    Duration idle{};  ///< step time less the other times
    int place = 0;    ///< index by busy time, from 1: the busiest rank
    std::optional<MemoryByClass> peak;
};

struct RankComparison {
    Rank rank;
    Compared<RankFigures> figures;
};

struct ActionDifference {
    Rank rank;
    Action action;
    Compared<Duration> length;
};

struct Comparison {
    Compared<StepFigures> step;
    std::vector<RankComparison> ranks;
    std::vector<ErrorRow> kinds;          ///< the kinds that occur, in the order of Action
    std::vector<ErrorRow> stages;         ///< an Overlap counts for its first compute's stage
    std::vector<ActionDifference> worst;  ///< at most kMostWorst, the greatest difference first
    Compared<std::size_t> unmatched;      ///< actions in only one of the traces
};
inline constexpr std::size_t kMostWorst = 10;

/// The reason why two traces cannot be compared, in one sentence: their programs differ.
std::optional<std::string> why_not_comparable(const Trace& simulated, const Trace& executed);

/// Lengths are net_lengths(): without waiting for a peer. Of several steps the median one is taken,
/// of several replicas of a rank the one that idles least. Precondition: why_not_comparable()
/// returns nothing.
Comparison compare(const Trace& simulated, const Trace& executed);

}  // namespace debubble
