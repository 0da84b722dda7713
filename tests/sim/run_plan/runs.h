#pragma once

#include "sim/run_plan/save_interval.h"

/// Trainings for the tests of this folder.
namespace debubble::sim {

inline constexpr double kMinute = 60;
inline constexpr double kHour = 3600;
inline constexpr double kDay = 86400;

/// A job that fails every `mttf` seconds, waits `pause` for a save and `restart` for a restart, and
/// saves as it loses least.
inline RunJob failing_job(double mttf, double pause, double restart, double days = 60) {
    RunJob job;
    job.step = 1;
    job.steps = days * kDay;
    job.machines = 2048;
    job.failures.machine = 1 / mttf;
    job.save.pause = pause;
    job.stop.restart = restart;
    job.save_every = best_intervals(job).save_every;
    return job;
}

inline double interval_of(const RunJob& job) {
    return static_cast<double>(job.save_every) * job.step;
}

inline double useful_share(const RunJob& job) {
    return 1 / wall_per_work(interval_of(job), job.save.pause, job.mttf(), job.stop.restart);
}

/// A job with everything that may happen to one.
inline RunJob eventful_job() {
    RunJob job;
    job.step = 10;
    job.steps = 30 * kDay / 10;
    job.machines = 512;
    job.failures = {1 / 80'000.0, 1 / 15'000.0, 1 / 300'000.0, 16};
    job.save = {2, 60, 3, false};
    job.stop = {300, 600, 200};
    job.spares = 3;
    job.repair = 4 * kHour;
    job.slow = SlowRanks{1e-5, 1.1, kHour};
    job.planned = {kDay, 30 * kMinute};
    return job;
}

inline RunJob with_best_intervals(RunJob job) {
    const SaveIntervals intervals = best_intervals(job);
    job.save_every = intervals.save_every;
    job.remote_every = intervals.remote_every;
    return job;
}

}  // namespace debubble::sim
