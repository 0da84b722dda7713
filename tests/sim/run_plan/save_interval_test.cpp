#include <gmock/gmock.h>

#include "sim/run_plan/run_figures.h"
#include "tests/sim/run_plan/runs.h"

/// How often a job saves, against the formulas of Young and Daly.
namespace debubble::sim {
namespace {

/// The optimum interval in minutes, and the useful share there, by Daly's exact run time with
/// restarts of 5 minutes, as tabulated independently of this program.
struct Tabulated {
    double mttf_h;
    double pause_s;
    double minutes;
    double useful;
};
constexpr Tabulated kTable[] = {
    {0.3, 1, 0.8, 0.725},    {0.3, 10, 2.3, 0.659},   {0.3, 60, 5.3, 0.532},
    {0.3, 300, 10.3, 0.324}, {1.8, 1, 1.9, 0.938},    {1.8, 10, 5.9, 0.903},
    {1.8, 60, 14.0, 0.831},  {1.8, 300, 29.6, 0.693}, {3.09, 1, 2.5, 0.960},
    {3.09, 10, 7.7, 0.933},  {3.09, 60, 18.6, 0.876}, {3.09, 300, 39.8, 0.765},
    {7.9, 1, 4.0, 0.981},    {7.9, 10, 12.4, 0.964},  {7.9, 60, 30.2, 0.927},
    {7.9, 300, 65.4, 0.853}, {24, 1, 6.9, 0.992},     {24, 10, 21.8, 0.981},
    {24, 60, 53.1, 0.960},   {24, 300, 116, 0.916},   {168, 1, 18.3, 0.998},
    {168, 10, 58.0, 0.994},  {168, 60, 141, 0.986},   {168, 300, 314, 0.968}};

TEST(SaveInterval, IsTheTabulatedOneAndLosesWhatIsTabulated) {
    for (const Tabulated& row : kTable) {
        const RunJob job = failing_job(row.mttf_h * kHour, row.pause_s, 5 * kMinute);
        EXPECT_NEAR(interval_of(job) / kMinute, row.minutes, 0.05 + 0.01 * row.minutes)
            << row.mttf_h << ' ' << row.pause_s;
        EXPECT_NEAR(useful_share(job), row.useful, 0.0012) << row.mttf_h << ' ' << row.pause_s;
    }
}

TEST(SaveInterval, IsYoungsWherePausesAreShortAndDalysUpToHalfOfTheMttf) {
    for (const double mttf : {kHour, 10 * kHour, 100 * kHour}) {
        const double pause = mttf / 100'000;
        RunJob job = failing_job(mttf, pause, 0);
        job.step = pause / 10;  // so that whole steps say nothing
        job.steps = 60 * kDay / job.step;
        job.save_every = best_intervals(job).save_every;
        EXPECT_NEAR(interval_of(job) / young_interval(pause, mttf), 1, 0.005);
        for (const double share : {0.001, 0.01, 0.1, 0.5}) {
            RunJob long_pause = failing_job(mttf, share * mttf, 0);
            EXPECT_NEAR(interval_of(long_pause) / daly_interval(share * mttf, mttf), 1, 0.012)
                << share;
        }
    }
    EXPECT_EQ(daly_interval(3 * kHour, kHour), kHour);
    EXPECT_NEAR(young_interval(40, 7 * kDay) / kHour, 1.93, 0.005);  // BLOOM's
}

TEST(SaveInterval, DoesNotDependOnWhatEveryFailureCosts) {
    EXPECT_EQ(failing_job(3 * kHour, 30, 0).save_every,
              failing_job(3 * kHour, 30, 10 * kMinute).save_every);
}

TEST(SaveInterval, IsAsGoodAsAnyOtherOneByDrawnRuns) {
    RunJob job = failing_job(2 * kHour, 45, 5 * kMinute, 20);
    const double best = figures_of(job, 100, 3).goodput();
    for (const double factor : {0.25, 0.5, 0.7, 1.4, 2.0, 4.0}) {
        RunJob other = job;
        other.save_every = std::llround(factor * static_cast<double>(job.save_every));
        EXPECT_GT(best + 0.002, figures_of(other, 100, 3).goodput()) << factor;
    }
}

TEST(SaveInterval, IsNoShorterThanAnAsynchronousWrite) {
    RunJob job = failing_job(kHour, 0.01, kMinute);
    job.save.persist = 10 * kMinute;
    EXPECT_GE(interval_of(with_best_intervals(job)) + job.save.pause, job.save.persist);
    EXPECT_GE(static_cast<double>(intervals_of(job, 1).save_every) * job.step + job.save.pause,
              job.save.persist);
    EXPECT_EQ(intervals_of(job, 10'000).save_every, 10'000);
}

TEST(SaveInterval, OfMemoryIsShortAndStorageGetsAsManyAsItTakes) {
    RunJob job = eventful_job();
    job.save.in_memory = true;
    const SaveIntervals intervals = best_intervals(job);
    const double save = static_cast<double>(intervals.save_every) * job.step;
    EXPECT_LT(save, interval_of(with_best_intervals(eventful_job())));
    EXPECT_GE(static_cast<double>(intervals.remote_every) * (save + job.save.pause),
              job.save.persist);
}

TEST(SaveInterval, OfAJobThatNeverFailsIsTheWholeRun) {
    RunJob job = failing_job(kHour, 10, 0);
    job.failures = {};
    EXPECT_EQ(best_intervals(job).save_every, std::llround(job.steps));
}

}  // namespace
}  // namespace debubble::sim
