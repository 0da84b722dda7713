#include <algorithm>

#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "sim/grid/search.h"
#include "sim/predict.h"

/// Grids of plans that pack their documents in every step.
namespace debubble::sim {
namespace {

constexpr const char* kPackedGrid =
    "model: {base: llama3.1-8b, layers: 4}\n"
    "cluster: hgx-h100\n"
    "gpus: 8\n"
    "parallel: {zero_stage: 1}\n"
    "training: {global_batch: 32, micro_batch: 1, seq_length: 16384}\n";

/// No bound of even loads rules out what the drawn steps say is best.
TEST(PackedGrid, IsSearchedAsItIsSwept) {
    for (const char* packing : {"false", "true"}) {
        const Grid grid(std::string(kPackedGrid) +
                            "imbalance: {draws: 5, sequence: {mean: 1500, spread: 2, "
                            "global_batch_packing: " +
                            packing +
                            "}}\n"
                            "sweep:\n"
                            "  parallel.context: [2, 4, 8]\n"
                            "  parallel.pipeline: [1, 2]\n"
                            "  parallel.dynamic_context_parallel: [false, true]\n",
                        "grid.yaml", {});
        std::vector<SweepRow> rows;
        for (const std::size_t point : grid.points) rows.push_back(evaluate(grid, point));
        for (const Objective objective :
             {Objective::TokensPerS, Objective::StepTime, Objective::Mfu, Objective::PeakMemory}) {
            const SweepRow* const best = best_of(rows, objective);
            ASSERT_NE(best, nullptr);
            const SearchResult found = search(grid, objective);
            ASSERT_TRUE(found.best);
            EXPECT_EQ(found.best->index, best->index);
        }
        int differ = 0;
        for (std::size_t i = 0; i + 1 < rows.size(); i += 2)
            if (rows[i].possible() && rows[i + 1].possible() &&
                rows[i].figure("step_time_s") != rows[i + 1].figure("step_time_s"))
                ++differ;
        EXPECT_GE(differ, 3) << "groups as large as documents need change steps";
    }
}

/// The median steps of two plans may be other draws, with other tokens: rates are those of all
/// draws, and order plans as their mean times do.
TEST(PackedGrid, HasTheRatesOfAllItsDraws) {
    std::vector<Prediction> plans;
    for (const char* capacity : {"2048", "4096", "8192"})
        for (const char* smallest : {"1", "4"})
            plans.push_back(predict(scenarios::parse_scenario(
                                        std::string(kPackedGrid) +
                                            "imbalance: {draws: 7, sequence: {mean: 1500, "
                                            "spread: 3, global_batch_packing: true}}\n",
                                        "rates.yaml",
                                        {{"parallel.context", "8"},
                                         {"parallel.dynamic_context_parallel", "true"},
                                         {"parallel.max_seqlen_per_dp_cp_rank", capacity},
                                         {"parallel.min_dynamic_context_parallel_size", smallest}}))
                                .prediction);
    const Prediction& first = plans.front();
    for (const Prediction& plan : plans) {
        double sum = 0;
        for (const Duration step : plan.uneven->drawn) sum += seconds(step);
        const double mean = sum / 7;
        EXPECT_NEAR(plan.uneven->mean_s(), mean, 1e-12 * mean);
        EXPECT_NEAR(plan.tokens_per_s * mean, first.tokens_per_s * first.uneven->mean_s(),
                    1e-9 * plan.tokens_per_s * mean)
            << "all plans have the same documents";
        EXPECT_NEAR(plan.samples_per_s * mean, 32, 1e-9);
        EXPECT_NEAR(*plan.mfu / plan.tokens_per_s, *first.mfu / first.tokens_per_s,
                    1e-9 * *plan.mfu / plan.tokens_per_s);
        EXPECT_NEAR(plan.tflops_per_gpu / plan.tokens_per_s,
                    first.tflops_per_gpu / first.tokens_per_s,
                    1e-9 * plan.tflops_per_gpu / plan.tokens_per_s);
    }
}

}  // namespace
}  // namespace debubble::sim
