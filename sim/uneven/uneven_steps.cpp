#include "sim/uneven/uneven_steps.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "sim/uneven/draw.h"

namespace debubble::sim {
namespace {

Duration step_of(const CostModel& costs, const Program& program, const SimulateOptions& how) {
    return simulate(program, costs, how).trace.header.step_time.value_or(Duration{});
}

/// The number of a step's slowest pipelines that are simulated without the slowdown of a rank.
constexpr std::size_t kMostSpared = 8;

/// The drawn pipelines and their simulated steps.
class PlayedPipelines {
public:
    PlayedPipelines(const LoadCurves& curves, const Program& program, const SimulateOptions& how,
                    int jobs)
        : curves_(curves),
          program_(program),
          how_(how),
          jobs_(jobs),
          pipelines_(curves.scenario(), program),
          times_(pipelines_.played().size()) {
        run_parallel(times_.size(), jobs, nullptr, [&](std::size_t i) {
            give_up_if(how_.stop);
            times_[i] = play(pipelines_.played()[i]);
        });
    }

    void sum_up(UnevenSteps& steps) const {
        for (int draw = 0; draw < pipelines_.draws(); ++draw)
            steps.drawn.push_back(times_[slowest_first(draw).front()]);
        sim::sum_up(steps);
        steps.pipelines = pipelines_.of_step();
        steps.ends = pipelines_.played()[slowest_first(steps.median).front()];
    }

    /// The slow ranks, each with the same draw without its slowdown.
    void find_slow_ranks(UnevenSteps& steps) const {
        slowest_of(steps, curves_.scenario().imbalance);
        std::vector<std::size_t> places = slowest_first(steps.median);
        places.resize(std::min(places.size(), kMostSpared));
        run_parallel(steps.slow.size(), jobs_, nullptr, [&](std::size_t i) {
            SlowRank& slow = steps.slow[i];
            Duration longest{};
            for (const std::size_t place : places)
                longest = std::max(longest, play(pipelines_.played()[place], slow.rank));
            slow.without_s = seconds(longest);
            if (slow.without_s > 0) slow.cost = steps.p50_s / slow.without_s - 1;
        });
        std::ranges::stable_sort(steps.slow, std::ranges::greater{}, &SlowRank::cost);
    }

private:
    Duration play(DrawnPipeline pipeline, std::optional<Rank> spared = {}) const {
        return step_of(UnevenCostModel(curves_, pipeline, spared), program_, how_);
    }
    std::vector<std::size_t> slowest_first(int draw) const {
        std::vector<std::size_t> places = pipelines_.of_draw(draw);
        std::ranges::stable_sort(places, std::ranges::greater{},
                                 [&](std::size_t place) { return times_[place]; });
        return places;
    }

    const LoadCurves& curves_;
    const Program& program_;
    const SimulateOptions& how_;
    int jobs_;
    DrawnPipelines pipelines_;
    std::vector<Duration> times_;
};

}  // namespace

Duration quantile(std::vector<Duration> steps, double share) {
    const auto count = static_cast<double>(steps.size());
    const auto rank = static_cast<std::ptrdiff_t>(std::clamp(std::ceil(share * count), 1.0, count));
    std::ranges::nth_element(steps, steps.begin() + rank - 1);
    return steps[rank - 1];
}

void sum_up(UnevenSteps& steps) {
    const Duration middle = quantile(steps.drawn, 0.5);
    steps.median = static_cast<int>(std::ranges::find(steps.drawn, middle) - steps.drawn.begin());
    steps.ends = {steps.median};
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
    UnevenSteps steps;
    steps.even_s = seconds(step_of(even, program, how));
    const PlayedPipelines played(curves, program, how, jobs);
    played.sum_up(steps);
    played.find_slow_ranks(steps);
    return steps;
}

}  // namespace debubble::sim
