#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/ids.h"

/// A training run of weeks or months as a few numbers: how much work it is, what stops it and how
/// often, what a save costs, and what a stop costs. Times are seconds of the wall clock, rates are
/// events per second of it, and work is counted in seconds that it takes at full speed.
///
/// The job runs on `machines` that fail independently, in series: its MTTF is one over the sum of
/// all rates (Kokolis et al., arXiv:2410.21680, section III). A stop loses the work since the last
/// save that survives it, the time to notice it, and the time until all ranks train again. Failures
/// strike while a job is down, too, and begin the restart anew, as in Daly's model (Future
/// Generation Computer Systems 22, 2006, doi:10.1016/j.ftcom.2004.11.016).
namespace debubble::sim {

/// What an instant of a run is spent on. All of them sum to the run.
enum class RunTime : std::uint8_t {
    Useful,       ///< work that stays
    Recompute,    ///< work that a failure threw away, and is done again
    Checkpoint,   ///< steps wait for a save, or are slowed by one
    Detection,    ///< the job has stopped, and nobody has noticed
    Restart,      ///< schedule, start, load
    Spares,       ///< waits until enough machines are repaired
    Degraded,     ///< replicas are missing (elastic jobs)
    SlowRank,     ///< a slow rank delays all others, or is replaced
    Maintenance,  ///< planned stops
};
inline constexpr std::size_t kRunTimes = 9;
std::string_view name_of(RunTime time);   ///< "recompute", as JSON has it
std::string_view words_of(RunTime time);  ///< "work done again"
using RunSeconds = ArrayBy<RunTime, double, kRunTimes>;
inline double& of(RunSeconds& seconds, RunTime time) {
    return seconds[time];
}
inline double of(const RunSeconds& seconds, RunTime time) {
    return seconds[time];
}

/// Failures by what they take with them.
struct FailureRates {
    double job = 0;       ///< the processes alone: software, and errors that a reset heals
    double machine = 0;   ///< one machine of the job, which is repaired; of all machines together
    double switches = 0;  ///< several machines at once, and copies in their memories
    int machines_per_switch = 1;
    double sum() const { return job + machine + switches; }
};

/// Saves of weights and optimizer state. A level in the memory of the hosts, with a copy on another
/// machine (Gemini, SOSP 2023), survives all but a switch; every `remote_every`-th save also goes
/// to storage.
struct SaveCost {
    double pause = 0;       ///< all ranks wait for a save: the whole write, or the copy to the host
    double persist = 0;     ///< after the pause, until an asynchronous write is complete
    double background = 0;  ///< what such a write delays the steps beside it by, in all
    bool in_memory = false;
};

/// What a stop costs besides lost work.
struct StopCost {
    double detect = 0;
    double restart = 0;              ///< with the load from storage
    double restart_from_memory = 0;  ///< with the load from memories of hosts
};

/// Data-parallel replicas that go on while one of them is down (torchft; FT-HSDP,
/// arXiv:2602.00277).
struct ElasticReplicas {
    int replicas = 1;
    double stall = 0;  ///< of all others, when one is lost
};

struct SlowRanks {
    double rate = 0;    ///< of all ranks together
    double factor = 1;  ///< by which a step takes longer
    double detect = 0;  ///< until the slow one is replaced, by a planned restart
};

struct PlannedStops {
    double every = std::numeric_limits<double>::infinity();
    double takes = 0;  ///< without the restart after it
};

struct RunJob {
    double step = 1;   ///< seconds
    double steps = 1;  ///< of the whole run
    int machines = 1;
    FailureRates failures;
    SaveCost save;
    std::int64_t save_every = 1;    ///< steps
    std::int64_t remote_every = 1;  ///< saves
    StopCost stop;
    /// Machines that wait to replace others; unset: a replacement is always there.
    std::optional<int> spares;
    double repair = 0;
    std::optional<ElasticReplicas> elastic;
    std::optional<SlowRanks> slow;
    PlannedStops planned;
    /// Without it failures strike running steps alone, as if an idle machine could not fail.
    bool fails_while_down = true;

    double work() const { return step * steps; }
    /// The job's mean time to failure; infinite without failures.
    double mttf() const { return 1 / failures.sum(); }
};

}  // namespace debubble::sim
