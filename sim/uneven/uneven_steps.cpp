#include "sim/uneven/uneven_steps.h"

#include <algorithm>
#include <cmath>

#include "base/cancelled.h"
#include "sim/grid/parallel.h"

namespace debubble::sim {
namespace {

Duration step_of(const CostModel& costs, const Program& program, const SimulateOptions& how) {
    return simulate(program, costs, how).trace.header.step_time;
}

/// The slow ranks, each beside the same draw without its slow-down.
void find_slow_ranks(UnevenSteps& steps, const LoadCurves& curves, const Program& program,
                     const SimulateOptions& how, int jobs) {
    slowest_of(steps, curves.scenario().imbalance);
    run_parallel(steps.slow.size(), jobs, nullptr, [&](std::size_t i) {
        SlowRank& slow = steps.slow[i];
        const UnevenCostModel spared(curves, steps.median, slow.rank);
        slow.without_s = seconds(step_of(spared, program, how));
        if (slow.without_s > 0) slow.cost = steps.p50_s / slow.without_s - 1;
    });
    std::ranges::stable_sort(steps.slow, std::ranges::greater{}, &SlowRank::cost);
}

}  // namespace

Duration quantile(std::vector<Duration> steps, double share) {
    const auto count = static_cast<double>(steps.size());
    const auto rank = static_cast<std::ptrdiff_t>(std::clamp(std::ceil(share * count), 1.0, count));
    std::ranges::nth_element(steps, steps.begin() + rank - 1);
    return steps[static_cast<std::size_t>(rank - 1)];
}

void sum_up(UnevenSteps& steps) {
    const Duration middle = quantile(steps.drawn, 0.5);
    steps.median = static_cast<int>(std::ranges::find(steps.drawn, middle) - steps.drawn.begin());
    steps.p50_s = seconds(middle);
    steps.p95_s = seconds(quantile(steps.drawn, 0.95));
}

void slowest_of(UnevenSteps& steps, const scenarios::Imbalance& imbalance) {
    for (const auto& [rank, factor] : imbalance.ranks)
        if (factor > 1) steps.slow.push_back({Rank{rank}, factor, 0, 0});
    steps.slow_ranks = steps.slow.size();
    std::ranges::stable_sort(steps.slow, std::ranges::greater{}, &SlowRank::factor);
    steps.slow.resize(std::min(steps.slow.size(), kMostSlowRanks));
}

UnevenSteps play_draws(const LoadCurves& curves, const CostModel& even, const Program& program,
                       const SimulateOptions& options, int jobs) {
    SimulateOptions how = options;
    how.follow_memory = false;
    how.record_spans = false;
    const scenarios::Imbalance& imbalance = curves.scenario().imbalance;
    UnevenSteps steps;
    steps.even_s = seconds(step_of(even, program, how));
    steps.drawn.resize(imbalance.is_random() ? static_cast<std::size_t>(imbalance.draws) : 1);
    run_parallel(steps.drawn.size(), jobs, nullptr, [&](std::size_t draw) {
        give_up_if(how.stop);
        steps.drawn[draw] = step_of(UnevenCostModel(curves, static_cast<int>(draw)), program, how);
    });
    sum_up(steps);
    find_slow_ranks(steps, curves, program, how, jobs);
    return steps;
}

}  // namespace debubble::sim
