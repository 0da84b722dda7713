#include "sim/run_plan/run_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/parallel.h"
#include "sim/run_plan/draw_run.h"

namespace debubble::sim {
namespace {

bool is_random(const RunJob& job) {
    return job.failures.sum() > 0 || (job.slow && job.slow->rate > 0);
}

double at_share(const std::vector<double>& sorted, double share) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

}  // namespace

RunFigures figures_of(const RunJob& job, int draws, std::uint64_t seed, int jobs) {
    RunFigures figures;
    figures.job = job;
    figures.draws = is_random(job) ? draws : 1;
    std::vector<DrawnRun> runs(figures.draws);
    run_parallel(runs.size(), jobs, nullptr,
                 [&](std::size_t i) { runs[i] = draw_run(job, seed, static_cast<int>(i)); });
    const double share = 1.0 / figures.draws;
    std::vector<double> walls;
    for (const DrawnRun& run : runs) {  // in the order of their numbers, so that sums are the same
        walls.push_back(run.finished ? run.wall : std::numeric_limits<double>::infinity());
        figures.mean_s += share * run.wall;
        for (std::size_t c = 0; c < kRunTimes; ++c) figures.seconds[c] += share * run.seconds[c];
        figures.failures += share * run.failures;
        figures.planned += share * run.planned;
        figures.hopeless += run.finished ? 0 : 1;
    }
    std::ranges::sort(walls);
    figures.p5_s = at_share(walls, 0.05);
    figures.p50_s = at_share(walls, 0.5);
    figures.p95_s = at_share(walls, 0.95);
    return figures;
}

}  // namespace debubble::sim
