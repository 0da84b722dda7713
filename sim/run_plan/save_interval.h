#pragma once

#include <cstdint>

#include "sim/run_plan/run_job.h"

/// How often a job saves. `pause` is what a save costs all ranks, `mttf` the job's mean time to
/// failure, both in seconds.
namespace debubble::sim {

/// sqrt(2 pause mttf), the work between two saves that loses least while both a pause and an
/// interval are far shorter than the MTTF (Young, CACM 17, 1974, doi:10.1145/361147.361115).
double young_interval(double pause, double mttf);

/// The same with higher terms, for pauses up to twice the MTTF (Daly, Future Generation Computer
/// Systems 22, 2006, equation 37).
double daly_interval(double pause, double mttf);

/// Seconds of the wall clock per second of work, exactly, with failures that strike at any time:
/// mttf exp(restart / mttf) (exp((interval + pause) / mttf) - 1) / interval (Daly, equation 20).
/// `restart` counts from a failure to the first step.
double wall_per_work(double interval, double pause, double mttf, double restart);

/// The steps between two saves, and the saves between two that go to storage.
struct SaveIntervals {
    std::int64_t save_every = 1;
    std::int64_t remote_every = 1;
};

/// Whole steps that lose least by wall_per_work. An asynchronous save begins when the one before it
/// is complete at the earliest, and until it is complete a failure goes back to that one, so that
/// its write counts as a part of each restart. With a level in memory, its saves are chosen by the
/// failures that it survives, and the others by the rest.
SaveIntervals best_intervals(const RunJob& job);

/// The same with saves of a given number of steps, or of more where a write takes longer than that.
SaveIntervals intervals_of(const RunJob& job, std::int64_t save_every);

}  // namespace debubble::sim
