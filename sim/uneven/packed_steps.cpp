#include "sim/uneven/packed_steps.h"

#include <algorithm>
#include <mutex>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "scenarios/plan/packing.h"
#include "sim/uneven/uneven_steps.h"

namespace debubble::sim {
namespace {

std::vector<Duration> steps_of(const auto& draws, auto of) {
    std::vector<Duration> steps;
    for (const auto& draw : draws) steps.push_back(std::invoke(of, draw).step);
    return steps;
}

double mean_of(const std::vector<Duration>& steps) {
    double sum = 0;
    for (const Duration step : steps) sum += seconds(step);
    return sum / static_cast<double>(steps.size());
}

PackedFigures figures_of(const PackedStep& step, std::int64_t capacity) {
    PackedFigures figures;
    double slots = 0;
    double pairs = 0;
    for (const PackedMicroBatch& micro_batch : step.micro_batches())
        for (const DocumentGroup& group : micro_batch) {
            ++figures.groups[group.ranks];
            slots += group.ranks;
            pairs += group.ranks * group.work();
        }
    figures.micro_batches = static_cast<double>(step.micro_batches().size());
    figures.tokens = step.tokens();
    figures.document = pairs / figures.tokens;
    figures.filled = figures.tokens / (slots * static_cast<double>(capacity));
    figures.waiting = step.waiting();
    return figures;
}

}  // namespace

PackedSteps::PackedSteps(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                         const SimulateOptions& how, int jobs)
    : scenario_(scenario),
      without_documents_(scenario),
      plan_(plan),
      how_(how),
      groups_(scenario.parallel.dynamic_context_parallel ? Groups::Dynamic : Groups::Equal) {
    without_documents_.imbalance.documents.reset();
    how_.follow_memory = false;
    how_.record_spans = false;
    const int draws = scenario.imbalance.draws;
    prepare(draws, jobs);
    std::vector<PlayedDraw> played(draws);
    run_parallel(played.size(), jobs, nullptr, [&](std::size_t draw) {
        give_up_if(how_.stop);
        played[draw] = play(static_cast<int>(draw));
    });
    sum_up(played);
    median_ = std::make_unique<const PackedStep>(step_of(steps_.median, groups_));
    program_ = &program_of(*median_);
    even_ = std::make_unique<const PackedCostModel>(*median_, std::nullopt);
    layers_.push_back(
        std::make_unique<const PackedCostModel>(*median_, played[steps_.median].played.position));
    curves_ = std::make_unique<const LoadCurves>(without_documents_, plan_.stages, plan_.schedule,
                                                 plan_.program, *layers_.front());
    layers_.push_back(std::make_unique<const UnevenCostModel>(*curves_, steps_.ends));
    costs_ = layers_.back().get();
    steps_.even_s =
        seconds(simulate(*program_, *even_, how_).trace.header.step_time.value_or(Duration{}));
    find_slow_ranks(jobs);
}

/// Prices the groups that occur, and makes the programs of the numbers of microbatches that occur.
void PackedSteps::prepare(int draws, int jobs) {
    std::mutex mutex;
    std::set<int> sizes;
    std::set<std::size_t> counts;
    const auto look_at = [&](int draw, Groups groups) {
        const std::vector<PackedMicroBatch> packed = pack_documents(scenario_, draw, groups);
        const std::lock_guard lock(mutex);
        counts.insert(packed.size());
        for (const PackedMicroBatch& micro_batch : packed)
            for (const DocumentGroup& group : micro_batch) sizes.insert(group.ranks);
    };
    run_parallel(draws, jobs, nullptr, [&](std::size_t draw) {
        give_up_if(how_.stop);
        look_at(static_cast<int>(draw), groups_);
    });
    if (groups_ == Groups::Dynamic) look_at_equal_groups(draws, look_at);
    for (const std::size_t count : counts) {
        scenarios::Scenario of_count = scenario_;
        of_count.training.micro_batches = static_cast<int>(count);
        plans_.emplace(count, scenarios::make_plan(of_count));
    }
    prices_ = std::make_unique<const PackedPrices>(scenario_, plan_.stages, plan_.schedule,
                                                   plan_.program, sizes);
}

/// A plan that cannot be packed for equal groups is not compared with them.
void PackedSteps::look_at_equal_groups(int draws, const std::function<void(int, Groups)>& look_at) {
    try {
        for (int draw = 0; draw < draws; ++draw) {
            give_up_if(how_.stop);
            look_at(draw, Groups::Equal);
        }
        compares_ = true;
    } catch (const InputError&) {
        compares_ = false;
    }
}

const Program& PackedSteps::program_of(const PackedStep& step) const {
    return plans_.at(step.micro_batches().size()).program;
}

PackedSteps::Played PackedSteps::play(const PackedStep& step, int draw,
                                      std::optional<Rank> spared) const {
    Played last;
    for (const int position : step.distinct_positions()) {
        const PackedCostModel packed(step, position);
        const LoadCurves curves(without_documents_, plan_.stages, plan_.schedule, plan_.program,
                                packed);
        const UnevenCostModel costs(curves, DrawnPipeline{draw}, spared);
        const Duration time =
            simulate(program_of(step), costs, how_).trace.header.step_time.value_or(Duration{});
        if (time > last.step) last = {time, position};
    }
    return last;
}

PackedSteps::PlayedDraw PackedSteps::play(int draw) const {
    PlayedDraw played;
    const PackedStep step = step_of(draw, groups_);
    played.played = play(step, draw);
    played.figures = figures_of(step, scenarios::rank_capacity(scenario_));
    if (!compares_) return played;
    const PackedStep equal = step_of(draw, Groups::Equal);
    played.with_equal_groups = play(equal, draw);
    played.equal_micro_batches = static_cast<double>(equal.micro_batches().size());
    return played;
}

void PackedSteps::sum_up(const std::vector<PlayedDraw>& draws) {
    steps_.drawn = steps_of(draws, &PlayedDraw::played);
    sim::sum_up(steps_);
    PackedFigures& figures = steps_.packed.emplace();
    const double part = 1 / static_cast<double>(draws.size());
    double pairs = 0;
    for (const PlayedDraw& draw : draws) {
        figures.micro_batches += part * draw.figures.micro_batches;
        for (const auto& [ranks, count] : draw.figures.groups)
            figures.groups[ranks] += part * count;
        figures.filled += part * draw.figures.filled;
        figures.waiting += part * draw.figures.waiting;
        figures.tokens += part * draw.figures.tokens;
        pairs += part * draw.figures.tokens * draw.figures.document;
        figures.static_micro_batches += part * draw.equal_micro_batches;
    }
    figures.document = pairs / figures.tokens;
    figures.position = draws[steps_.median].played.position;
    if (!compares_) return;
    const std::vector<Duration> equal = steps_of(draws, &PlayedDraw::with_equal_groups);
    figures.static_p50_s = seconds(quantile(equal, 0.5));
    figures.static_p95_s = seconds(quantile(equal, 0.95));
    figures.static_times_as_long = mean_of(equal) / steps_.mean_s();
}

void PackedSteps::find_slow_ranks(int jobs) {
    slowest_of(steps_, scenario_.imbalance);
    run_parallel(steps_.slow.size(), jobs, nullptr, [&](std::size_t i) {
        SlowRank& slow = steps_.slow[i];
        slow.without_s = seconds(play(*median_, steps_.median, slow.rank).step);
        if (slow.without_s > 0) slow.cost = steps_.p50_s / slow.without_s - 1;
    });
    std::ranges::stable_sort(steps_.slow, std::ranges::greater{}, &SlowRank::cost);
}

}  // namespace debubble::sim
