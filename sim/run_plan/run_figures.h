#pragma once

#include <cstdint>

#include "sim/run_plan/run_job.h"

/// A run's time, over many drawn runs.
namespace debubble::sim {

struct RunFigures {
    RunJob job;     ///< with the intervals that were chosen
    int draws = 0;  ///< runs that were drawn; 1 where nothing is random
    /// Seconds of the wall clock, by the nearest rank.
    double p5_s = 0;
    double p50_s = 0;
    double p95_s = 0;
    double mean_s = 0;
    RunSeconds seconds{};  ///< of the mean run, which they add up to
    double failures = 0;   ///< that stopped running steps, of the mean run
    double planned = 0;
    /// Runs that were given up, as they hardly make progress (kHopeless). Percentiles that fall on
    /// them are infinite; in means they count until they were given up.
    int hopeless = 0;

    /// Useful work over the wall clock, of all draws together: the effective training time ratio.
    double goodput() const { return of(seconds, RunTime::Useful) / mean_s; }
};

/// Draws runs on `jobs` threads (0: one per core). The figures are the same on any number of them.
/// Without anything random or planned one draw is enough.
RunFigures figures_of(const RunJob& job, int draws, std::uint64_t seed, int jobs = 0);

}  // namespace debubble::sim
