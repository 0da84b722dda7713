#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "sim/grid/compare_plans.h"
#include "sim/grid/grid.h"
#include "sim/grid/search.h"
#include "sim/plan/plan_bound.h"
#include "tests/sim/grid/random_grids.h"

namespace debubble::sim {
namespace {

constexpr std::uint32_t kFewGrids = 300;

/// `./dev check-all` asks for 1000.
std::uint32_t number_of_grids() {
    const char* wanted = std::getenv("DEBUBBLE_RANDOM_GRIDS");
    return wanted ? static_cast<std::uint32_t>(std::strtoul(wanted, nullptr, 10)) : kFewGrids;
}

std::vector<SweepRow> rows_of(const Grid& grid) {
    std::vector<SweepRow> rows;
    for (const std::size_t index : grid.points) rows.push_back(evaluate(grid, index));
    return rows;
}

/// What rules a point out without playing it must not rule out one that is better than it says.
void expect_bounds_below(const Grid& grid, const std::vector<SweepRow>& rows) {
    for (const SweepRow& row : rows) {
        if (!row.possible()) continue;
        SCOPED_TRACE(fmt::format("point {}", row.index));
        const PlanBound bound = bound_of(grid.instantiate(row.index));
        EXPECT_LE(bound.step_time_s, row.figure("step_time_s") * (1 + 1e-9));
        EXPECT_LE(static_cast<double>(bound.memory.count), row.figure("peak_memory_bytes"));
        EXPECT_TRUE(bound.fits() || !row.fits);
        // By which a plan that computes something again is passed over before it has its own bound.
        const auto other = without_recompute(grid, row.index);
        if (other) try {
                EXPECT_LE(bound_of(grid.instantiate(*other)).step_time_s,
                          row.figure("step_time_s") * (1 + 1e-9));
            } catch (const InputError&) {
                continue;  // impossible, and no bound of another
            }
    }
}

/// The first ones of a search that is asked for several are those of the sweep.
void expect_same_ranks(const Grid& grid, const std::vector<SweepRow>& rows) {
    constexpr std::size_t kRanks = 4;
    const auto twins = duplicates_in(rows);
    std::vector<double> of_sweep, of_search;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].fits && !twins[i]) of_sweep.push_back(rows[i].figure("tokens_per_s"));
    std::ranges::sort(of_sweep, std::ranges::greater{});
    of_sweep.resize(std::min(of_sweep.size(), kRanks));
    BatchOptions options;
    options.jobs = 1;
    for (const SweepRow& row : search(grid, Objective::TokensPerS, options, kRanks).played)
        of_search.push_back(row.figure("tokens_per_s"));
    ASSERT_GE(of_search.size(), of_sweep.size());
    of_search.resize(of_sweep.size());
    EXPECT_EQ(of_search, of_sweep);
}

int expect_same_winner(const Grid& grid, const std::vector<SweepRow>& rows) {
    int found = 0;
    BatchOptions options;
    options.jobs = 1;
    for (const Objective objective :
         {Objective::TokensPerS, Objective::StepTime, Objective::PeakMemory}) {
        const SweepRow* best = best_of(rows, objective);
        const SearchResult result = search(grid, objective, options);
        EXPECT_TRUE(result.finished);
        EXPECT_EQ(result.best.has_value(), best != nullptr);
        if (!best || !result.best) continue;
        EXPECT_EQ(result.best->index, best->index);
        ++found;
    }
    return found;
}

TEST(RandomGrids, HaveTheWinnerOfTheirSweep) {
    const std::uint32_t grids = number_of_grids();
    std::map<std::string, int> possible;  // points, by key that is swept
    int winners = 0;
    for (std::uint32_t seed = 0; seed < grids; ++seed) {
        const std::string text = random_grid(seed);
        SCOPED_TRACE(text);
        Grid grid(text, "grid.yaml", {});
        grid.any_schedule = seed % 4 != 0;  // also where some are left out
        const std::vector<SweepRow> rows = rows_of(grid);
        for (const std::string& key : grid.keys())
            possible[key] += static_cast<int>(std::ranges::count_if(rows, &SweepRow::possible));
        expect_bounds_below(grid, rows);
        winners += expect_same_winner(grid, rows);
        expect_same_ranks(grid, rows);
    }
    for (const std::string& key : keys_of_random_grids())
        EXPECT_GE(possible[key], 10) << key << " is in no grid with plans";
    EXPECT_GE(winners, static_cast<int>(grids));
}

/// What ZeRO-3 keeps from one pass to the next depends on the order, and an order may depend on
/// costs: what is played is priced in the very order in which it is played.
TEST(RandomGrids, OfOrdersThatDependOnCostsHaveTheWinnerOfTheirSweep) {
    for (const char* model : {"nemotron-h-8b", "llama3-8b"})
        for (const char* parallel :
             {"context: 4, data: 16, zero_stage: 3", "data: 64, zero_stage: 3",
              "pipeline: 2, data: 32, zero_stage: 3, wrap: layer"})
            for (const char* framework : {"deepspeed", "pytorch-fsdp2"})
                for (const int global_batch : {64, 256}) {
                    const std::string text = fmt::format(
                        "model: {}\ncluster: hgx-h200\ngpus: 64\nparallel: {{{}}}\n"
                        "training: {{micro_batch: 1, seq_length: 4096, global_batch: {}}}\n"
                        "framework: {}\nsweep: {{schedule: [1f1b, zb-h1, v-half, v-min, zb-v, "
                        "zb-auto, 1f1b-v]}}\n",
                        model, parallel, global_batch, framework);
                    SCOPED_TRACE(text);
                    const Grid grid(text, "orders.yaml", {});
                    const std::vector<SweepRow> rows = rows_of(grid);
                    expect_bounds_below(grid, rows);
                    EXPECT_EQ(expect_same_winner(grid, rows), 3);
                }
}

}  // namespace
}  // namespace debubble::sim
