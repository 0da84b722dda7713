#include "sim/run_plan/save_interval.h"

#include <algorithm>
#include <cmath>

namespace debubble::sim {
namespace {

/// What one level of saves is chosen by.
struct SaveLevel {
    double rate = 0;  ///< of the failures that go back to it
    double pause = 0;
    double restart = 0;
};

double cost(const SaveLevel& level, double interval) {
    if (level.rate <= 0) return 1 + level.pause / interval;
    return wall_per_work(interval, level.pause, 1 / level.rate, level.restart);
}

/// The best whole number of `unit` seconds. The cost falls to its least and rises from there.
std::int64_t best_count(const SaveLevel& level, double unit, std::int64_t least,
                        std::int64_t most) {
    if (level.rate <= 0) return most;
    if (level.pause <= 0) return least;
    std::int64_t low = least;
    std::int64_t high = most;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        const double here = cost(level, unit * static_cast<double>(middle));
        const double next = cost(level, unit * static_cast<double>(middle + 1));
        if (next < here)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

std::int64_t whole(double count) {
    return static_cast<std::int64_t>(std::clamp(std::ceil(count - 1e-9), 1.0, 1e15));
}

/// Saves between two remote ones, of which each is complete before the next begins.
std::int64_t least_remote(const RunJob& job, double save_interval) {
    return whole(job.save.persist / (save_interval + job.save.pause));
}

double level_restart(const RunJob& job, bool memory) {
    return job.stop.detect + (memory ? job.stop.restart_from_memory : job.stop.restart);
}

std::int64_t best_remote(const RunJob& job, std::int64_t save_every) {
    const double unit = job.step * static_cast<double>(save_every);
    const std::int64_t least = least_remote(job, unit);
    const SaveLevel level{job.failures.switches, job.save.background,
                          level_restart(job, false) + job.save.persist};
    return best_count(level, unit, least, std::max(least, whole(job.work() / unit)));
}

}  // namespace

double young_interval(double pause, double mttf) {
    return std::sqrt(2 * pause * mttf);
}

double daly_interval(double pause, double mttf) {
    if (pause >= 2 * mttf) return mttf;
    const double part = pause / (2 * mttf);
    return young_interval(pause, mttf) * (1 + std::sqrt(part) / 3 + part / 9) - pause;
}

double wall_per_work(double interval, double pause, double mttf, double restart) {
    return mttf * std::exp(restart / mttf) * std::expm1((interval + pause) / mttf) / interval;
}

SaveIntervals best_intervals(const RunJob& job) {
    const std::int64_t most = whole(job.steps);
    if (job.save.in_memory) {
        const SaveLevel memory{job.failures.job + job.failures.machine, job.save.pause,
                               level_restart(job, true)};
        const std::int64_t every = best_count(memory, job.step, 1, most);
        return {every, best_remote(job, every)};
    }
    const std::int64_t least =
        std::min(most, whole((job.save.persist - job.save.pause) / job.step));
    const SaveLevel storage{job.failures.sum(), job.save.pause + job.save.background,
                            level_restart(job, false) + job.save.persist};
    return {best_count(storage, job.step, least, most), 1};
}

SaveIntervals intervals_of(const RunJob& job, std::int64_t save_every) {
    if (job.save.in_memory) return {save_every, best_remote(job, save_every)};
    return {std::max(save_every, whole((job.save.persist - job.save.pause) / job.step)), 1};
}

}  // namespace debubble::sim
