#pragma once

#include <cstdint>
#include <vector>

#include "sim/run_plan/run_job.h"

/// One run as it might go: failures, repairs, slow ranks and planned stops are drawn, and the job's
/// saves, stops and restarts follow from them, event by event. Whole cycles of steps and a save
/// between two events are passed in one go, so that months take a fraction of a millisecond.
namespace debubble::sim {

/// A part of a drawn run, for a picture. Steps are shown as useful even where a failure throws them
/// away later, and steps that are delayed by a slow rank or lack replicas as those.
struct RunSpell {
    RunTime spent{};
    double begin = 0;  ///< seconds since the start
    double end = 0;
    /// Work that is done at the end, in seconds at full speed; falls where a failure throws it
    /// away.
    double work = 0;
};

struct DrawnRun {
    double wall = 0;  ///< seconds from the start to the last step
    RunSeconds seconds{};
    double done = 0;   ///< work that stays
    int failures = 0;  ///< that stopped running steps
    int planned = 0;
    /// False for a run that would take more than kHopeless times its work, or met more than
    /// kMostRunEvents: it was given up, and `done` is what it had.
    bool finished = true;
    std::vector<RunSpell> spells = {};  ///< if they were asked for
};
inline constexpr double kHopeless = 100;
inline constexpr int kMostRunEvents = 300'000;  ///< a failure every two minutes for a year

/// The run of this number. The same seed and number give the same bits on every machine and thread;
/// neighbouring numbers share nothing.
DrawnRun draw_run(const RunJob& job, std::uint64_t seed, int number, bool keep_spells = false);

}  // namespace debubble::sim
