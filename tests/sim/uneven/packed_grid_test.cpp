#include <algorithm>

#include <gtest/gtest.h>

#include "sim/grid/search.h"

/// Grids of plans that pack their documents in every step.
namespace debubble::sim {
namespace {

constexpr const char* kPackedGrid =
    "model: {base: llama3.1-8b, layers: 4}\n"
    "cluster: hgx-h100\n"
    "gpus: 8\n"
    "parallel: {zero_stage: 1}\n"
    "training: {global_batch: 32, micro_batch: 1, seq_length: 16384}\n";

std::string step_of(const SweepRow& row) {
    const std::vector<std::string> names = figure_names();
    const auto at = std::ranges::find(names, "step_time_s");
    return at == names.end() ? "" : row.figures[static_cast<std::size_t>(at - names.begin())];
}

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
                step_of(rows[i]) != step_of(rows[i + 1]))
                ++differ;
        EXPECT_GE(differ, 3) << "groups as large as documents need change steps";
    }
}

}  // namespace
}  // namespace debubble::sim
