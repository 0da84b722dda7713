#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "sim/grid/search.h"
#include "sim/predict.h"

/// Grids that sweep loads.
namespace debubble::sim {
namespace {

constexpr const char* kLoadsGrid =
    "model: {base: llama3.1-8b, layers: 8}\n"
    "cluster: hgx-h100\n"
    "gpus: 8\n"
    "training: {global_batch: 32, seq_length: 2048}\n";

TEST(UnevenGrid, ComparesPlansByTheLoadsThatItSweeps) {
    const Grid grid(std::string(kLoadsGrid) +
                        "imbalance: {draws: 5}\n"
                        "sweep:\n"
                        "  parallel.pipeline: [2, 4]\n"
                        "  imbalance.jitter: [0, 0.3]\n"
                        "  imbalance.ranks: [{0: 1.0}, {1: 1.5}]\n",
                    "grid.yaml", {});
    std::vector<SweepRow> rows;
    for (const std::size_t point : grid.points) {
        const SweepRow row = evaluate(grid, point);
        const Prediction alone = predict(grid.instantiate(point)).prediction;
        EXPECT_DOUBLE_EQ(row.figure("step_time_s"), alone.step_time_s) << point;
        EXPECT_DOUBLE_EQ(row.figure("tokens_per_s"), alone.tokens_per_s) << point;
        rows.push_back(row);
    }
    for (std::size_t i = 0; i < rows.size(); i += 4) {
        EXPECT_LT(rows[i].figure("step_time_s"), rows[i + 1].figure("step_time_s"))
            << "a slow rank costs time";
        EXPECT_NE(rows[i].figure("step_time_s"), rows[i + 2].figure("step_time_s"))
            << "jitter is drawn";
    }
    for (const Objective objective : {Objective::TokensPerS, Objective::StepTime, Objective::Mfu})
        EXPECT_EQ(search(grid, objective).best->index, best_of(rows, objective)->index);
}

/// A grid over other keys asks which plan is best, which draws would blur.
TEST(UnevenGrid, ComparesOtherKeysUnderEvenLoads) {
    const std::string sweep = "sweep: {parallel.pipeline: [2, 4]}\n";
    const Grid even(kLoadsGrid + sweep, "grid.yaml", {});
    const Grid uneven(kLoadsGrid + std::string("imbalance: {jitter: 0.3, draws: 5}\n") + sweep,
                      "grid.yaml", {});
    for (const std::size_t point : even.points)
        EXPECT_EQ(evaluate(even, point).figures, evaluate(uneven, point).figures);
}

}  // namespace
}  // namespace debubble::sim
