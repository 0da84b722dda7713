#include <algorithm>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "sim/grid/compare_plans.h"
#include "sim/grid/search.h"

/// The time and the money of whole trainings.
namespace debubble::sim {
namespace {

Grid grid_of_nodes(const std::string& more = "price: {gpu_hour: 2 EUR}\n") {
    return {
        "model: {base: llama3-8b, layers: 8}\ncluster: hgx-h100\nnodes: 1\n"
        "parallel: {data: auto}\n"
        "training: {global_batch: 64, micro_batch: 1, seq_length: 4096, tokens: 100B}\n"
        "reliability: {base: llama3-2024, draws: 20}\n" +
            more +
            "sweep:\n  nodes: [1, 2, 4, 8]\n  parallel.pipeline: [1, 2]\n"
            "  reliability.checkpoint.every: [auto, 2 h]\n",
        "grid.yaml",
        {}};
}

std::vector<SweepRow> all_rows(const Grid& grid) {
    std::vector<SweepRow> rows;
    for (const std::size_t index : grid.points) rows.push_back(evaluate(grid, index));
    return rows;
}

std::vector<std::size_t> indices(const std::vector<const SweepRow*>& rows) {
    std::vector<std::size_t> found;
    for (const SweepRow* row : rows) found.push_back(row->index);
    return found;
}

TEST(RunFrontier, IsTheSameByASearchAsByPlayingAllPlans) {
    const Grid grid = grid_of_nodes();
    const std::vector<SweepRow> rows = all_rows(grid);
    const std::vector<const SweepRow*> frontier = run_frontier(rows);
    ASSERT_GE(frontier.size(), 2u);
    for (std::size_t i = 1; i < frontier.size(); ++i) {
        EXPECT_GT(run_point(*frontier[i]).days, run_point(*frontier[i - 1]).days);
        EXPECT_LT(run_point(*frontier[i]).cost, run_point(*frontier[i - 1]).cost);
    }
    for (const Objective objective : {Objective::Cost, Objective::Days}) {
        const SearchResult result = search(grid, objective);
        ASSERT_TRUE(result.best);
        EXPECT_EQ(result.best->index, best_of(rows, objective)->index);
        EXPECT_EQ(indices(run_frontier(result.played)), indices(frontier));
    }
    EXPECT_EQ(best_of(rows, Objective::Days), frontier.front());
    EXPECT_EQ(best_of(rows, Objective::Cost), frontier.back());
}

TEST(RunFrontier, TheCheapestWithinSomeDaysIsNoLaterThanThose) {
    const Grid grid = grid_of_nodes();
    const std::vector<SweepRow> rows = all_rows(grid);
    const double days = best_of(rows, Objective::Cost)->figure("days") * 0.6;
    BatchOptions options;
    options.most_days = days;
    const SearchResult result = search(grid, Objective::Cost, options);
    ASSERT_TRUE(result.best);
    EXPECT_LE(result.best->figure("days"), days);
    EXPECT_GT(result.too_late + result.late, 0u);
    for (const SweepRow& row : result.in_time()) EXPECT_LE(row.figure("days"), days);
    EXPECT_EQ(result.in_time().front().index, result.best->index);
    for (const SweepRow& row : std::span(result.played).last(result.late))
        EXPECT_GT(row.figure("days"), days);
    for (const SweepRow& row : rows) {
        if (!row.fits || row.figure("days") > days) continue;
        EXPECT_GE(row.figure("cost"), result.best->figure("cost"));
    }
    options.most_days = days / 1000;
    EXPECT_FALSE(search(grid, Objective::Cost, options).best);
}

TEST(RunFrontier, TheFirstOfSeveralAreThoseOfTheSweep) {
    constexpr std::size_t kRanks = 6;
    const Grid grid = grid_of_nodes();
    const std::vector<SweepRow> rows = all_rows(grid);
    const auto twins = duplicates_in(rows);
    for (const auto& [objective, figure] :
         {std::pair{Objective::Cost, "cost"}, std::pair{Objective::Days, "days"}}) {
        std::vector<double> of_sweep, of_search;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows[i].fits && !twins[i]) of_sweep.push_back(rows[i].figure(figure));
        std::ranges::sort(of_sweep);
        ASSERT_GT(of_sweep.size(), kRanks);
        for (const SweepRow& row : search(grid, objective, {}, kRanks).played)
            of_search.push_back(row.figure(figure));
        ASSERT_GE(of_search.size(), kRanks);
        of_sweep.resize(kRanks);
        of_search.resize(kRanks);
        EXPECT_EQ(of_search, of_sweep) << figure;
    }
}

TEST(RunFrontier, NeedsAPriceForItsCost) {
    EXPECT_THROW((void)search(grid_of_nodes(""), Objective::Cost), InputError);
    const SearchResult result = search(grid_of_nodes(""), Objective::Days);
    ASSERT_TRUE(result.best);
    EXPECT_EQ(run_point(*result.best).cost, result.best->figure("gpu_hours"));
}

TEST(RunFrontier, SweepsNodesBesideTheKeysOfAGrid) {
    const std::vector<scenarios::SweepKey> nodes =
        scenarios::parse_sweep("sweep: {nodes: [256, 512]}", "--nodes").keys;
    const Grid grid("gpt2-xl-sweep", {}, nodes);
    EXPECT_EQ(grid.keys().back(), "nodes");
    const Grid again("llama3-405b-run", {}, nodes);
    EXPECT_EQ(again.keys(), std::vector<std::string>{"nodes"});
    EXPECT_EQ(again.points.size(), 2u);
}

}  // namespace
}  // namespace debubble::sim
