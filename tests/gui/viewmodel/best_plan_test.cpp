#include <chrono>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>

#include "gui/viewmodel/sweep/plot_range.h"
#include "gui/viewmodel/sweep/sweep_run.h"
#include "gui/viewmodel/sweep/sweep_table.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/field.h"
#include "scenarios/read/edit.h"
#include "sim/grid/first_grid.h"
#include "tests/gui/viewmodel/shipped.h"

namespace debubble::gui {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kCuts =
    "parallel.tensor: [1, 2]\nparallel.pipeline: [1, 2, 4]\nparallel.data: [auto]\n"
    "training.micro_batches: [~]\ntraining.global_batch: [64]\nschedule: [1f1b, gpipe]\n";

void wait_for(const SweepRun& run) {
    using State = SweepRun::State;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (std::chrono::steady_clock::now() < deadline) {
        const State state = run.progress().state;
        if (state != State::Reading && state != State::Running) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

ScenarioText with(ScenarioText source, const std::vector<scenarios::Override>& changes) {
    for (const auto& [key, value] : changes) source = with_change(source, key, value);
    return source;
}

TEST(BestPlan, is_that_of_debubble_search_with_what_was_played_the_best_first) {
    const ScenarioText source = with_grid(shipped("gpt2-xl-1f1b"), kCuts);
    SweepRun run(source, {}, Ask::BestPlan);
    wait_for(run);
    ASSERT_EQ(run.progress().state, SweepRun::State::Finished);
    const sim::Grid grid(source.text, source.file, {});
    const sim::SearchResult expected = sim::search(grid, sim::Objective::TokensPerS);
    ASSERT_TRUE(expected.best);
    ASSERT_TRUE(run.found().best);
    EXPECT_EQ(run.found().best->values, expected.best->values);
    SweepTable table(run.grid());
    table.add(run.take_rows());
    ASSERT_FALSE(table.rows().empty());
    EXPECT_EQ(table.rows()[0].values, expected.best->values);
    EXPECT_THAT(table.plan_of(0), Not(HasSubstr("data"))) << "keys of one value are not a choice";
    const std::string words = search_words(run.found(), table.plan_of(0), grid.keys());
    EXPECT_THAT(words, HasSubstr("Best of 12 plans: "));
    EXPECT_THAT(words, HasSubstr(table.plan_of(0)));
}

TEST(BestPlan, of_a_grid_in_which_none_fits_is_none_and_the_words_say_why) {
    const ScenarioText source =
        with_grid(with_change(shipped("gpt2-xl-1f1b"), "cluster.gpu.memory", "1 GiB"), kCuts);
    SweepRun run(source, {}, Ask::BestPlan);
    wait_for(run);
    ASSERT_EQ(run.progress().state, SweepRun::State::Finished);
    EXPECT_FALSE(run.found().best);
    EXPECT_THAT(search_words(run.found(), {}, run.grid().keys()),
                HasSubstr("No plan of 12 fits: "));
}

TEST(FirstGrid, finds_a_plan_of_a_large_network_from_a_cut_that_is_impossible) {
    const ScenarioText source =
        with(shipped("gpt2-xl-1f1b"),
             {{"model", "llama3-70b"}, {"cluster", "hgx-h100"}, {"gpus", "64"}});
    ASSERT_FALSE(answer(source).plan) << "its degrees do not make 64 GPUs";
    const std::string lines = sim::first_grid(source.text, source.file).lines;
    EXPECT_THAT(lines, HasSubstr("parallel.data: [auto]"));
    EXPECT_THAT(lines, HasSubstr("training.micro_batches: [~]"));
    EXPECT_THAT(lines, HasSubstr("parallel.tensor * parallel.pipeline <= 64"));
    EXPECT_THAT(lines, HasSubstr("stages_per_rank: 5")) << "80 layers in four ranks of five chunks";
    EXPECT_THAT(lines, Not(HasSubstr("parallel.expert")));
    // One cut of the grid, as it would be taken.
    const sim::Grid grid(with_grid(source, lines).text, source.file, {});
    bool fits = false;
    for (std::size_t i = 0; i < grid.points.size() && !fits; i += 7) {
        const sim::SweepRow row = sim::evaluate(grid, grid.points[i]);
        if (!row.fits) continue;
        fits = true;
        ScenarioText chosen = source;  // like the window, which sets the keys of a point
        for (const scenarios::Override& key : grid.sweep.point(row.index))
            chosen.text = scenarios::with_key(chosen.text, chosen.file, key);
        const Answer taken = answer(chosen);
        ASSERT_TRUE(taken.plan) << (taken.mistakes.empty() ? "" : taken.mistakes[0].message);
        EXPECT_TRUE(taken.plan->prediction.fits);
        EXPECT_EQ(taken.plan->scenario.gpus, 64);
        EXPECT_EQ(taken.plan->scenario.training.global_batch, 64) << "the batch stays";
    }
    EXPECT_TRUE(fits);
}

TEST(FirstGrid, of_experts_cuts_them_too_and_of_a_text_without_network_is_plain) {
    const ScenarioText mixtral = shipped("mixtral-8x7b");
    EXPECT_THAT(sim::first_grid(mixtral.text, mixtral.file).lines,
                HasSubstr("parallel.expert: [1, 2, 4, 8]"));
    EXPECT_THAT(sim::first_grid("model: nobody", "x.yaml").lines,
                HasSubstr("parallel.tensor: [1, 2, 4, 8]"));
}

TEST(SweepFilter, compares_what_the_columns_show_and_minds_no_case) {
    const sim::Grid grid(with_grid(shipped("gpt2-xl-1f1b"), kCuts).text, "x.yaml", {});
    SweepTable table(grid);
    std::vector<sim::SweepRow> rows;
    for (const std::size_t point : grid.points) rows.push_back(sim::evaluate(grid, point));
    table.add(std::move(rows));
    const auto counted = [&](const std::string& filter) {
        return table.order(table.columns().size(), false, filter).size();
    };
    const auto rows_where = [&](const auto& test) {
        std::size_t count = 0;
        for (const std::size_t row : table.order(table.columns().size(), false, ""))
            count += test(table.rows()[row]) ? 1 : 0;
        return count;
    };
    EXPECT_EQ(counted("tensor=2"),
              rows_where([](const auto& row) { return row.values[0] == "2"; }));
    EXPECT_EQ(counted("pipeline>=2 !GPIPE"), rows_where([](const auto& row) {
                  return row.values[1] != "1" && row.values[5] == "1f1b";
              }));
    EXPECT_EQ(counted("peak<20"), rows_where([](const auto& row) {
                  return row.possible() && row.figure("peak_memory_bytes") < 20 * kGiB;
              }));
    EXPECT_GT(counted("peak<20"), 0U);
    EXPECT_EQ(counted("schedule=gpipe"), counted("gpipe"));
}

TEST(PlotRange, keeps_the_value_under_the_pointer_and_never_shows_more_than_all) {
    const PlotRange whole{10, 110};
    const PlotRange near = zoomed(whole, whole, 4, 35);
    EXPECT_DOUBLE_EQ(near.length(), 25);
    EXPECT_DOUBLE_EQ(near.share_of(35), whole.share_of(35));
    EXPECT_EQ(zoomed(near, whole, 0.01, 35), whole);
    EXPECT_EQ(moved(near, whole, 1000).high, 110);
    EXPECT_EQ(moved(near, whole, -1000).low, 10);
    const PlotRange dragged = stretch_between(60, 40, whole);
    EXPECT_EQ(dragged, (PlotRange{40, 60}));
    EXPECT_GT(stretch_between(50, 50, whole).length(), 0) << "a click has a width";
}

}  // namespace
}  // namespace debubble::gui
