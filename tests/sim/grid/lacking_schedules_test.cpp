#include <gmock/gmock.h>

#include "sim/grid/grid.h"
#include "sim/grid/search.h"

namespace debubble::sim {
namespace {

Grid three_schedules(bool any_schedule) {
    Grid grid(
        "model: {base: llama3-8b, layers: 16}\ncluster: hgx-h100\ngpus: 8\n"
        "parallel: {pipeline: 4, data: auto}\nframework: megatron-2026\n"
        "training: {global_batch: 32, micro_batch: 1, seq_length: 4096}\n"
        "sweep: {schedule: [1f1b, dualpipe-v, zb-v], training.recompute: [none, full]}\n",
        "grid.yaml", {});
    grid.any_schedule = any_schedule;
    return grid;
}

std::vector<SweepRow> every_row(const Grid& grid) {
    std::vector<SweepRow> rows;
    for (const std::size_t index : grid.points) rows.push_back(evaluate(grid, index));
    return rows;
}

TEST(ASchedule, ThatTheSoftwareLacksIsARowWithTheReasonOutsideTheRanking) {
    const Grid grid = three_schedules(false);
    const std::vector<SweepRow> rows = every_row(grid);
    for (const SweepRow& row : rows) {
        if (row.values[0] == "1f1b") {
            EXPECT_TRUE(row.possible() && row.fits);
            continue;
        }
        EXPECT_EQ(row.reason, "megatron-2026 has no " + row.values[0]);
        EXPECT_FALSE(row.possible());
        EXPECT_FALSE(row.fits);
    }
    const SearchResult found = search(grid, Objective::TokensPerS);
    ASSERT_TRUE(found.best.has_value());
    EXPECT_EQ(found.best->values[0], "1f1b");
    EXPECT_EQ(found.best->index, best_of(rows, Objective::TokensPerS)->index);
    EXPECT_EQ(found.lacking, 4u);
    EXPECT_EQ(found.impossible, 0u);
    EXPECT_TRUE(found.finished);
}

TEST(ASchedule, ThatTheSoftwareLacksIsRankedWhereAnyOneIsAdmitted) {
    const Grid grid = three_schedules(true);
    const std::vector<SweepRow> rows = every_row(grid);
    for (const SweepRow& row : rows) EXPECT_TRUE(row.possible()) << row.reason;
    const SearchResult found = search(grid, Objective::TokensPerS);
    ASSERT_TRUE(found.best.has_value());
    EXPECT_NE(found.best->values[0], "1f1b") << "another one is faster";
    EXPECT_EQ(found.best->index, best_of(rows, Objective::TokensPerS)->index);
    EXPECT_EQ(found.lacking, 0u);
}

}  // namespace
}  // namespace debubble::sim
