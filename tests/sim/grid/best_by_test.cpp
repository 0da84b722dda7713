#include <algorithm>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "sim/grid/search.h"

namespace debubble::sim {
namespace {

Grid grid_of_memories() {
    return {
        "model: {base: llama3-8b, layers: 8}\ncluster: hgx-h100\ngpus: 8\n"
        "parallel: {data: auto}\ntraining: {global_batch: 32, micro_batch: 1, seq_length: 4096}\n"
        "sweep:\n  parallel.pipeline: [1, 2, 4]\n  cluster.gpu.memory: [1 GiB, 20 GiB, 80 GiB]\n"
        "  schedule: [1f1b, gpipe]\n  where: parallel.pipeline > 1 or schedule == '1f1b'\n",
        "grid.yaml",
        {}};
}

TEST(BestBy, IsTheBestOfTheRowsWithEachValue) {
    const Grid grid = grid_of_memories();
    std::vector<SweepRow> rows;
    for (const std::size_t index : grid.points) rows.push_back(evaluate(grid, index));
    for (std::size_t key = 0; key < grid.sweep.keys.size(); ++key)
        for (const Objective objective : {Objective::TokensPerS, Objective::PeakMemory}) {
            const auto best = best_by(rows, grid, key, objective);
            const std::vector<std::string>& values = grid.sweep.keys[key].values;
            ASSERT_EQ(best.size(), values.size());
            for (std::size_t value = 0; value < values.size(); ++value) {
                std::vector<SweepRow> with;
                std::ranges::copy_if(rows, std::back_inserter(with), [&](const SweepRow& row) {
                    return row.values[key] == values[value];
                });
                const SweepRow* const expected = best_of(with, objective);
                ASSERT_EQ(best[value] == nullptr, expected == nullptr);
                if (expected) {
                    EXPECT_EQ(best[value]->index, expected->index);
                }
                const auto points = points_with(grid, key, value);
                EXPECT_EQ(points.size(), with.size());
                const SearchResult found = search(grid, points, objective);
                EXPECT_EQ(found.points, points.size());
                ASSERT_EQ(found.best.has_value(), expected != nullptr);
                if (expected) {
                    EXPECT_EQ(found.best->index, expected->index);
                }
            }
        }
    const auto of_memory = best_by(rows, grid, 1, Objective::TokensPerS);
    EXPECT_EQ(of_memory[0], nullptr) << "nothing fits into 1 GiB";
    EXPECT_NE(of_memory[2], nullptr);
}

TEST(BestBy, AsksForAKeyThatIsSwept) {
    const Grid grid = grid_of_memories();
    EXPECT_EQ(place_of_swept_key(grid, "cluster.gpu.memory"), 1u);
    try {
        (void)place_of_swept_key(grid, "parallel.pipelin");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'parallel.pipeline'?"));
    }
}

}  // namespace
}  // namespace debubble::sim
