#include "sim/uneven/drawn_memory.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "sim/engine/simulate.h"
#include "sim/grid/grid.h"
#include "sim/grid/search.h"
#include "sim/plan/ordered_plan.h"
#include "sim/plan/priced_plan.h"
#include "sim/predict.h"
#include "sim/uneven/draw.h"
#include "tests/sim/random_scenarios.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

const PredictOptions kOnlyMemory{.keep_trace = false, .hash_program = false, .explain = false};

/// Mixtral, whose even loads fit into the device and whose loads of 1.6 do not.
Scenario loaded_mixtral(const std::vector<scenarios::Override>& with = {}) {
    return scenarios::parse_scenario(
        "model: mixtral-8x7b\ncluster: hgx-h100\n"
        "parallel: {pipeline: 4, data: 8, expert: 8, zero_stage: 1}\nschedule: 1f1b\n"
        "training: {micro_batch: 1, micro_batches: 16, seq_length: 6144}\n"
        "framework: megatron-2026\n",
        "mixtral.yaml", with);
}

void expect_same_memory(const Prediction& a, const Prediction& b) {
    EXPECT_EQ(a.fits, b.fits);
    EXPECT_EQ(a.memory_left, b.memory_left);
    ASSERT_EQ(a.ranks.size(), b.ranks.size());
    for (std::size_t r = 0; r < a.ranks.size(); ++r) {
        EXPECT_EQ(a.ranks[r].memory, b.ranks[r].memory) << r;
        EXPECT_EQ(a.ranks[r].peak_op, b.ranks[r].peak_op) << r;
        EXPECT_EQ(a.ranks[r].reserved, b.ranks[r].reserved) << r;
    }
}

TEST(DrawnMemory, OfOneConstantLoadIsThatOfExpertLoad) {
    const Prediction listed =
        predict(loaded_mixtral({{"imbalance", "{router: {loads: [1.6]}, draws: 3}"}}), kOnlyMemory)
            .prediction;
    const Prediction given =
        predict(loaded_mixtral({{"training.expert_load", "1.6"}}), kOnlyMemory).prediction;
    EXPECT_FALSE(given.fits);
    EXPECT_TRUE(predict(loaded_mixtral(), kOnlyMemory).prediction.fits);
    expect_same_memory(listed, given);
    EXPECT_EQ(listed.step_time_s, given.step_time_s);
    ASSERT_TRUE(listed.drawn_memory);
    EXPECT_EQ(listed.drawn_memory->p50, listed.drawn_memory->most);
    EXPECT_LT(listed.uneven->even_s, given.step_time_s) << "loads of 1 are the even ones";
}

/// The same in any plan that has routers.
TEST(DrawnMemory, OfOneConstantLoadIsThatOfExpertLoadInAnyPlan) {
    RandomWish wish;
    wish.experts = true;
    int tried = 0;
    for_random_scenarios(
        [&](const RandomScenario& drawn) {
            const auto listed = drawn.with({{"imbalance", "{router: {loads: [1.6]}, draws: 2}"},
                                            {"training.expert_load", ""}});
            const auto given = drawn.with({{"training.expert_load", "1.6"}});
            if (!listed || !given) return;
            expect_same_memory(predict(*listed, kOnlyMemory).prediction,
                               predict(*given, kOnlyMemory).prediction);
            ++tried;
        },
        wish, number_of_random_scenarios());
    EXPECT_GE(tried, number_of_random_scenarios() / 2);
}

/// A plan with the times of its step of mean loads.
struct Drawn {
    explicit Drawn(const Scenario& of)
        : scenario(of),
          priced(debubble::sim::priced(ordered_plan(scenario), scenario)),
          times(simulate(priced.plan.program, *priced.costs, *priced.memory).times) {}
    DrawnMemory memory() const {
        return {scenario, priced.plan, priced.plan.program, *priced.memory, times, {}};
    }
    Scenario scenario;
    PricedPlan priced;
    std::vector<std::vector<ActionTimes>> times;
};

Bytes fullest(const std::vector<MemoryPeak>& peaks) {
    Bytes most;
    for (const MemoryPeak& peak : peaks) most = std::max(most, total(peak.held));
    return most;
}

/// Sums by rows against tensors one by one, and both against a plan of the same load everywhere.
TEST(DrawnMemory, IsExactForTheLoadsOfEveryDraw) {
    RandomWish wish;
    wish.experts = true;
    int drawn_plans = 0;
    for_random_scenarios(
        [&](const RandomScenario& drawn) {
            for (const char* loads :
                 {"{loads: [1, 1.3, 2.2]}", "{loads: [1.999999, 2]}", "{spread: 0.3}"}) {
                const auto scenario =
                    drawn.with({{"imbalance", fmt::format("{{router: {}, draws: 3}}", loads)}});
                if (!scenario || scenario->training.chooses_recompute) return;
                const Drawn plan(*scenario);
                const DrawnMemory memory = plan.memory();
                const Bytes asked = fullest(memory.peaks());
                // Rows are whole, and casts of them are filled up: a few bytes a tensor.
                EXPECT_NEAR(static_cast<double>(asked.count),
                            static_cast<double>(memory.figures().at_quantile.count),
                            1e-5 * static_cast<double>(asked.count))
                    << loads;
                EXPECT_LE(memory.figures().p50, memory.figures().at_quantile);
                EXPECT_LE(memory.figures().at_quantile, memory.figures().most);
                const std::vector<Bytes> reserved = memory.reserved();
                const std::vector<MemoryPeak> peaks = memory.peaks();
                for (std::size_t r = 0; r < peaks.size(); ++r)
                    EXPECT_GE(reserved[r], total(peaks[r].held)) << loads << " rank " << r;
                ++drawn_plans;
            }
        },
        wish, number_of_random_scenarios() / 10);
    EXPECT_GE(drawn_plans, number_of_random_scenarios() / 10);
}

TEST(DrawnMemory, LiesBetweenThatOfItsLeastAndItsHighestLoad) {
    const auto needs = [](const Scenario& scenario) {
        const Prediction p = predict(scenario, kOnlyMemory).prediction;
        Bytes most;
        for (const RankPrediction& rank : p.ranks) most = std::max(most, rank.peak_memory);
        return most;
    };
    const Bytes least = needs(loaded_mixtral({{"training.expert_load", "1.1"}}));
    const Bytes highest = needs(loaded_mixtral({{"training.expert_load", "1.9"}}));
    const Prediction p =
        predict(loaded_mixtral({{"imbalance", "{router: {loads: [1.1, 1.9]}, draws: 40}"}}),
                kOnlyMemory)
            .prediction;
    ASSERT_TRUE(p.drawn_memory);
    EXPECT_LT(least, p.drawn_memory->p50);
    EXPECT_LT(p.drawn_memory->p50, p.drawn_memory->most);
    EXPECT_LT(p.drawn_memory->most, highest);
    Bytes shown;
    for (const RankPrediction& rank : p.ranks) shown = std::max(shown, rank.peak_memory);
    EXPECT_EQ(shown, p.drawn_memory->at_quantile);
}

/// The device holds the median's loads and not the greatest.
TEST(DrawnMemory, DecidesByItsQuantile) {
    const auto asked = [](const char* quantile, const char* memory) {
        return predict(loaded_mixtral(
                           {{"imbalance", fmt::format("{{router: {{spread: 0.2}}, draws: 50, "
                                                      "fits_quantile: {}}}",
                                                      quantile)},
                            {"cluster.gpu.memory", memory},
                            {"framework.allocator", "exact"},
                            {"framework.headroom", "0 B"}}),
                       kOnlyMemory)
            .prediction;
    };
    const Prediction all = asked("1", "200 GiB");
    ASSERT_TRUE(all.drawn_memory);
    ASSERT_LT(all.drawn_memory->p50, all.drawn_memory->most);
    const Bytes between{(all.drawn_memory->p50.count + all.drawn_memory->most.count) / 2};
    const std::string device = fmt::format("{} B", between.count);
    EXPECT_TRUE(asked("0.5", device.c_str()).fits);
    EXPECT_FALSE(asked("1", device.c_str()).fits);
    EXPECT_NE(asked("1", device.c_str()).reason.find("drawn loads"), std::string::npos);
}

/// All commands give the same verdict.
TEST(DrawnMemory, DecidesInGridsAsInPredictions) {
    const std::string text =
        "model: mixtral-8x7b\ncluster: hgx-h100\ngpus: 32\n"
        "parallel: {pipeline: 4, data: 8, expert: 8, zero_stage: 1}\nschedule: 1f1b\n"
        "training: {micro_batch: 1, micro_batches: 16, seq_length: 5120}\n"
        "framework: megatron-2026\nimbalance: {router: {spread: 0.3}, draws: 20}\n"
        "sweep: {training.recompute: [none, full], parallel.pipeline: [2, 4], parallel.data: "
        "[8, 16]}\n";
    const Grid grid(text, "grid.yaml", {});
    std::vector<SweepRow> rows;
    int verdicts[2] = {0, 0};
    for (const std::size_t index : grid.points) {
        rows.push_back(evaluate(grid, index));
        if (!rows.back().possible()) continue;
        const Prediction p = predict(grid.instantiate(index)).prediction;
        EXPECT_EQ(rows.back().fits, p.fits) << index;
        ++verdicts[p.fits];
        Bytes most;
        for (const RankPrediction& rank : p.ranks) most = std::max(most, rank.peak_memory);
        EXPECT_EQ(rows.back().figure("peak_memory_bytes"), static_cast<double>(most.count));
    }
    EXPECT_GT(verdicts[0], 0);
    EXPECT_GT(verdicts[1], 0);
    BatchOptions options;
    options.jobs = 1;
    for (const Objective objective : {Objective::TokensPerS, Objective::PeakMemory}) {
        const SweepRow* best = best_of(rows, objective);
        const SearchResult result = search(grid, objective, options);
        ASSERT_TRUE(best != nullptr && result.best);
        EXPECT_EQ(result.best->index, best->index);
    }
}

}  // namespace
}  // namespace debubble::sim
