#include <cmath>
#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include "sim/run_plan/draw_run.h"
#include "sim/run_plan/run_figures.h"
#include "tests/sim/run_plan/runs.h"

/// Drawn trainings: what must hold of each, closed forms of their mean, and published ones.
namespace debubble::sim {
namespace {

/// Jobs of every kind: elastic or not, levels of saves, spares, slow ranks, planned stops.
RunJob random_job(std::mt19937_64& random) {
    const auto one_of = [&](auto... values) {
        const double list[] = {static_cast<double>(values)...};
        return list[random() % std::size(list)];
    };
    RunJob job = eventful_job();
    job.step = one_of(0.5, 10, 130);
    job.steps = std::ceil(one_of(2, 20) * kDay / job.step);
    job.failures = {1 / one_of(1e4, 1e5, 1e7), 1 / one_of(1e4, 1e5), 1 / one_of(1e5, 1e6), 16};
    job.save = {one_of(0, 0.5, 60), one_of(0, 30, 600), one_of(0, 2), one_of(0, 1) > 0};
    job.spares = static_cast<int>(one_of(0, 2, 20));
    if (one_of(0, 1) > 0) job.spares.reset();
    if (one_of(0, 1) > 0) job.slow.reset();
    if (one_of(0, 1) > 0) job.planned = {};
    if (one_of(0, 1) > 0) job.elastic = ElasticReplicas{static_cast<int>(one_of(2, 64)), 120};
    job.fails_while_down = one_of(0, 1) > 0;
    return with_best_intervals(job);
}

double sum_of(const RunSeconds& seconds) {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

TEST(DrawnRun, SpendsEverySecondOnOneThingAndLosesNoWork) {
    std::mt19937_64 random(11);
    for (int i = 0; i < 300; ++i) {
        const RunJob job = random_job(random);
        const DrawnRun run = draw_run(job, 5, i);
        EXPECT_NEAR(sum_of(run.seconds) / run.wall, 1, 1e-9) << i;
        EXPECT_NEAR(of(run.seconds, RunTime::Useful) / run.done, 1, 1e-9) << i;
        for (std::size_t c = 0; c < kRunTimes; ++c)
            EXPECT_GE(run.seconds[c], -1e-6 * run.wall) << i << ' ' << c;
        EXPECT_EQ(run.finished, run.done == job.work()) << i;
    }
}

/// Runs whose parts are kept pass save by save, and others many saves at once.
TEST(DrawnRun, PassesManySavesAtOnceAsOneByOne) {
    std::mt19937_64 random(12);
    for (int i = 0; i < 100; ++i) {
        const RunJob job = random_job(random);
        if (job.work() / interval_of(job) > 100'000) continue;
        const DrawnRun fast = draw_run(job, 5, i);
        const DrawnRun slow = draw_run(job, 5, i, true);
        EXPECT_NEAR(fast.wall / slow.wall, 1, 1e-6) << i;
        EXPECT_EQ(fast.failures, slow.failures) << i;
        for (std::size_t c = 0; c < kRunTimes; ++c)
            EXPECT_NEAR(fast.seconds[c], slow.seconds[c], 1e-6 * slow.wall) << i << ' ' << c;
    }
}

TEST(DrawnRun, HasSpellsThatFollowOneAnother) {
    const DrawnRun run = draw_run(with_best_intervals(eventful_job()), 1, 0, true);
    double at = 0;
    for (const RunSpell& spell : run.spells) {
        EXPECT_EQ(spell.begin, at);
        EXPECT_GT(spell.end, spell.begin);
        at = spell.end;
    }
    EXPECT_EQ(at, run.wall);
    EXPECT_EQ(run.spells.back().work, run.done);
}

TEST(DrawnRun, IsTheSameToTheBitOnAnyNumberOfThreads) {
    const RunJob job = with_best_intervals(eventful_job());
    const RunFigures one = figures_of(job, 50, 7, 1);
    for (const int threads : {2, 3, 8}) {
        const RunFigures more = figures_of(job, 50, 7, threads);
        EXPECT_EQ(one.seconds, more.seconds);
        EXPECT_EQ(one.mean_s, more.mean_s);
        EXPECT_EQ(one.p5_s, more.p5_s);
        EXPECT_EQ(one.p50_s, more.p50_s);
        EXPECT_EQ(one.p95_s, more.p95_s);
    }
    EXPECT_NE(figures_of(job, 50, 8, 1).mean_s, one.mean_s);
}

TEST(DrawnRun, TakesInTheMeanWhatDalysExactFormulaSays) {
    for (const double mttf : {0.3, 1.8, 7.9})
        for (const double pause : {1.0, 60.0, 300.0}) {
            const RunJob job = failing_job(mttf * kHour, pause, 5 * kMinute);
            const RunFigures figures = figures_of(job, 64, 1);
            // A run has hundreds of failures, each of which costs about as much as it varies.
            EXPECT_NEAR(figures.goodput(), useful_share(job), 0.003) << mttf << ' ' << pause;
        }
}

TEST(DrawnRun, OfAJobThatNeverFailsIsItsWorkAndItsSaves) {
    RunJob job = failing_job(kHour, 30, 600, 1);
    job.failures = {};
    job.save_every = 3600;
    const RunFigures figures = figures_of(job, 200, 1);
    EXPECT_EQ(figures.draws, 1);
    EXPECT_NEAR(figures.p50_s, kDay + 23 * 30, 1e-6);  // none after the last step
}

TEST(DrawnRun, IsGivenUpWhereItHardlyMakesProgress) {
    RunJob job = failing_job(2 * kMinute, 0, kMinute, 1);
    job.save_every = 3600;  // an hour
    const RunFigures figures = figures_of(job, 8, 1);
    EXPECT_EQ(figures.hopeless, 8);
    EXPECT_GE(figures.goodput(), 0);
    EXPECT_LT(figures.goodput(), 0.001);
}

/// A restart that is longer than the MTTF a hundred times never ends.
TEST(DrawnRun, IsGivenUpWhereNoRestartEnds) {
    RunJob job = failing_job(10, 0, 1000, 60);
    job.stop.detect = 60;
    const RunFigures figures = figures_of(job, 4, 1);
    EXPECT_EQ(figures.hopeless, 4);
    EXPECT_NEAR(sum_of(figures.seconds) / figures.mean_s, 1, 1e-9);
    job = eventful_job();
    job.planned = {1e-3, 0};
    EXPECT_EQ(figures_of(job, 1, 1).hopeless, 1);
}

TEST(DrawnRun, WaitsForRepairsOnlyWithoutSpares) {
    RunJob job = failing_job(3 * kHour, 10, 5 * kMinute, 20);
    job.repair = 4 * kHour;
    const auto waits = [&](std::optional<int> spares) {
        job.spares = spares;
        return of(figures_of(job, 32, 1).seconds, RunTime::Spares);
    };
    EXPECT_EQ(waits({}), 0);
    EXPECT_GT(waits(0), waits(1));
    EXPECT_GT(waits(1), waits(3));
    EXPECT_LT(waits(12), 0.0001 * job.work());
}

TEST(DrawnRun, LosesLessWithReplicasThatGoOnAndWithSavesInMemory) {
    RunJob job = eventful_job();
    job.slow.reset();
    const auto goodput = [](const RunJob& one) {
        return figures_of(with_best_intervals(one), 64, 1).goodput();
    };
    const double plain = goodput(job);
    RunJob in_memory = job;
    in_memory.save.in_memory = true;
    EXPECT_GT(goodput(in_memory), plain + 0.01);
    RunJob elastic = job;
    elastic.elastic = ElasticReplicas{64, 3 * kMinute};
    EXPECT_GT(goodput(elastic), plain + 0.01);
}

/// Test 1: 2,048 machines and 3.79 stops in 1,000 machine days (Llama 3, arXiv:2407.21783).
TEST(PublishedRuns, LlamaThreesFailuresAreAsMany) {
    const auto failures = [](double per_1000_days) {
        RunJob job = failing_job(kDay / (2048 * per_1000_days / 1000), 0, 0, 54);
        job.save_every = 1;
        return figures_of(job, 200, 1).failures;
    };
    EXPECT_NEAR(failures(3.79), 419, 5);
    EXPECT_NEAR(failures(6.50), 719, 7);
    EXPECT_NEAR(failures(2.34), 259, 4);
    const double mttf = 1000 * kDay / (2048 * 3.79);
    EXPECT_NEAR(mttf / kHour, 3.09, 0.005);
    RunJob fast = failing_job(mttf, 10, 5 * kMinute, 54);
    fast.save_every = 600;
    EXPECT_NEAR(figures_of(fast, 100, 1).goodput(), 0.931, 0.003);
    EXPECT_LT(useful_share(failing_job(mttf, 60, 5 * kMinute, 54)), 0.877);
}

/// Test 3: 12,000 GPUs, restarts and saves of 5 minutes or 10 s (Kokolis et al., arXiv:2410.21680).
TEST(PublishedRuns, OfTwelveThousandGpusNeedFewFailuresOrFastSaves) {
    const auto useful = [](double per_1000_days, double pause) {
        return useful_share(
            failing_job(1000 * kDay / (1500 * per_1000_days), pause, 5 * kMinute, 30));
    };
    EXPECT_NEAR(useful(6.50, 300), 0.740, 0.02);  // by its formula of first order
    EXPECT_NEAR(useful(1.0, 300), 0.898, 0.005);
    EXPECT_NEAR(useful(6.50, 10), 0.921, 0.005);
}

/// Test 4: a stop each 18 minutes of the wall clock (FT-HSDP, arXiv:2602.00277, abstract).
TEST(PublishedRuns, OfHundredThousandGpusStopByTheWallClock) {
    const auto useful = [](double stall) {
        RunJob job = failing_job(18 * kMinute - stall, 0, stall, 10);
        job.fails_while_down = false;
        job.save_every = 1;
        return figures_of(job, 32, 1).goodput();
    };
    EXPECT_NEAR(useful(10 * kMinute), 0.44, 0.01);  // published 0.44
    EXPECT_NEAR(useful(3 * kMinute), 0.83, 0.01);   // published 0.80
}

/// Test 5: 100,000 GPUs at RSC-2's rate; saves each hour leave little, and not less than nothing.
TEST(PublishedRuns, OfHundredThousandGpusNeedShortIntervals) {
    const double mttf = 1000 * kDay / (12'500 * 2.34);
    const auto useful = [&](double per_1000_days, double interval, double restart) {
        RunJob job = failing_job(mttf * 2.34 / per_1000_days, 0, restart, 5);
        job.save_every = std::llround(interval);
        const double drawn = figures_of(job, 32, 1).goodput();
        EXPECT_NEAR(drawn, useful_share(job), 0.01);
        return drawn;
    };
    EXPECT_NEAR(useful(2.34, 120, 120), 0.939, 0.01);
    EXPECT_NEAR(useful(2.34, 198, 198), 0.90, 0.01);
    EXPECT_GT(useful(6.50, kHour, 120), 0);
    EXPECT_LT(useful(6.50, kHour, 120), 0.12);
}

/// Test 9: BLOOM's saves of 40 s each 100 steps of 105 s, published as 0.37 % of the time.
TEST(PublishedRuns, BloomsSavesCostAsMuch) {
    RunJob job;
    job.step = 105;
    job.steps = 87'260;
    job.save.pause = 40;
    job.save_every = 100;
    const RunFigures figures = figures_of(job, 1, 1);
    EXPECT_NEAR(100 * of(figures.seconds, RunTime::Checkpoint) / figures.mean_s, 0.37, 0.015);
}

/// Test 10: a save each step of 4.4 s (ByteRobust, arXiv:2509.16293, table 8).
TEST(PublishedRuns, SavesOfEachStepCostTheirPauses) {
    const auto useful = [](double pause) {
        RunJob job;
        job.step = 4.4;
        job.steps = 10'000;
        job.save.pause = pause;
        return 100 * figures_of(job, 1, 1).goodput();
    };
    EXPECT_NEAR(useful(6.77), 39.84, 1);
    EXPECT_NEAR(useful(1.84), 70.05, 1);
    EXPECT_NEAR(useful(0.04), 99.23, 1);
}

/// Test 11: OPT-175B, 105 stops in 60 days of which 33 were useful: each cost six hours.
TEST(PublishedRuns, StopsOfOptCostSixHoursEach) {
    RunJob job = failing_job(60 * kDay / 105 - 6 * kHour, 0, 6 * kHour, 33);
    job.fails_while_down = false;
    job.save_every = 1;
    const RunFigures figures = figures_of(job, 200, 1);
    EXPECT_NEAR(figures.goodput(), 0.56, 0.01);
    EXPECT_NEAR(figures.mean_s / kDay, 60, 2);
    EXPECT_NEAR(1000 * figures.failures / (124 * figures.mean_s / kDay), 14, 0.5);
}

/// Test 12: one slow GPU of BLOOM's 384 made steps of 105.2 s last 111.1 s.
TEST(PublishedRuns, OneSlowRankDelaysAllForAsLongAsItStays) {
    RunJob job;
    job.step = 105.2;
    job.steps = 10'000;
    job.save_every = 10'000;
    job.slow = SlowRanks{1, 111.1 / 105.2, 1e9};
    const RunFigures figures = figures_of(job, 4, 1);
    EXPECT_NEAR(figures.mean_s / job.steps, 111.1, 0.01);
    EXPECT_NEAR(of(figures.seconds, RunTime::SlowRank) / figures.mean_s, 5.9 / 111.1, 1e-4);
}

}  // namespace
}  // namespace debubble::sim
