#include <chrono>
#include <random>
#include <thread>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "gui/viewmodel/sweep/sweep_run.h"
#include "gui/viewmodel/sweep/sweep_table.h"
#include "sim/csv_row.h"
#include "sim/sweep.h"

namespace debubble::gui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using State = SweepRun::State;

ScenarioText shipped(const std::string& name) {
    return std::get<ScenarioText>(open_source(name));
}

constexpr const char* kSmallGrid =
    "parallel.pipeline: [1, 2, 3, 4]\nschedule: [1f1b, gpipe]\nwhere: parallel.pipeline > 1\n";

State wait_for(const SweepRun& run) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
        const State state = run.progress().state;
        if (state != State::Reading && state != State::Running) return state;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return State::Running;
}

TEST(SweepGrid, is_shown_as_lines_and_read_back) {
    const std::string lines = grid_lines(shipped("gpt2-xl-sweep"));
    EXPECT_THAT(lines, HasSubstr("parallel.tensor: "));
    EXPECT_THAT(lines, HasSubstr("where: "));
    const ScenarioText again = with_grid(shipped("gpt2-xl-sweep"), lines);
    EXPECT_EQ(grid_lines(again), lines);
}

TEST(SweepGrid, has_lines_to_begin_with_where_the_scenario_has_none) {
    const ScenarioText source = shipped("gpt2-xl");
    SweepRun run(with_grid(source, grid_lines(source)));
    EXPECT_EQ(wait_for(run), State::Finished);
}

TEST(Sweep, of_the_window_gives_the_rows_of_the_command_line) {
    const ScenarioText source = with_grid(shipped("gpt2-xl"), kSmallGrid);
    SweepRun run(source);
    ASSERT_EQ(wait_for(run), State::Finished);
    SweepTable table(run.grid());
    table.add(run.take_rows());

    const auto folder = std::filesystem::temp_directory_path() / "debubble-sweep-test";
    std::filesystem::create_directories(folder);
    const auto file = folder / "plan.yaml";
    write_file(file, source.text);
    std::filesystem::remove(folder / "results.csv");
    (void)sim::sweep(sim::Grid(file.string(), {}), folder / "results.csv");
    std::string mine = table.csv(table.order(table.columns().size(), false, ""));
    std::string theirs = read_file(folder / "results.csv");
    const auto sorted_lines = [](const std::string& text) {
        std::vector<std::string> lines;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        std::ranges::sort(lines);
        return lines;
    };
    // The scenario is named after its file.
    const auto renamed = [](std::string text, const std::string& from, const std::string& to) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
        return text;
    };
    EXPECT_EQ(sorted_lines(renamed(mine, ",gpt2-xl,", ",plan,")),
              sorted_lines(renamed(theirs, ",gpt2-xl,", ",plan,")));
    std::filesystem::remove_all(folder);
}

TEST(Sweep, can_be_stopped) {
    SweepRun run(shipped("gpt2-xl-sweep"));
    run.stop();
    EXPECT_EQ(wait_for(run), State::Stopped);
    const SweepRun::Progress progress = run.progress();
    EXPECT_LT(progress.done, progress.total);
}

TEST(Sweep, tells_what_is_wrong_with_the_grid) {
    SweepRun run(with_grid(shipped("gpt2-xl"), "parallel.tensr: [1, 2]\n"));
    ASSERT_EQ(wait_for(run), State::Failed);
    EXPECT_THAT(run.mistakes().front().message, HasSubstr("tensr"));
}

SweepTable small_table() {
    SweepRun run(with_grid(shipped("gpt2-xl"), kSmallGrid));
    (void)wait_for(run);
    SweepTable table(run.grid());
    table.add(run.take_rows());
    return table;
}

TEST(SweepTable, sorts_numbers_as_numbers_and_puts_the_impossible_last) {
    const SweepTable table = small_table();
    const std::size_t speed = table.column_of("tokens_per_s");
    const auto order = table.order(speed, true, "");
    ASSERT_EQ(order.size(), 6);
    for (std::size_t i = 1; i < order.size(); ++i) {
        const auto before = table.number(order[i - 1], speed);
        const auto here = table.number(order[i], speed);
        EXPECT_TRUE(!here || (before && *before >= *here));
    }
    EXPECT_FALSE(table.number(order.back(), speed));  // 3 ranks on 8 GPUs
    EXPECT_FALSE(table.text(order.back(), table.column_of("reason")).empty());
}

TEST(SweepTable, filters_by_words_and_their_absence) {
    const SweepTable table = small_table();
    EXPECT_EQ(table.order(0, false, "gpipe").size(), 3);
    EXPECT_EQ(table.order(0, false, "!gpipe").size(), 3);
    EXPECT_EQ(table.order(0, false, "gpipe impossible").size(), 1);
    EXPECT_THAT(table.order(0, false, "nothing-like-it"), IsEmpty());
}

bool beats(const PlotPoint& a, const PlotPoint& b) {  // more x is better, less y
    return a.x >= b.x && a.y <= b.y && (a.x > b.x || a.y < b.y);
}

TEST(Frontier, holds_exactly_the_fitting_points_that_no_other_beats) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> number(0, 40);
    std::vector<PlotPoint> points;
    for (std::size_t i = 0; i < 400; ++i)
        points.push_back({i, double(number(random)), double(number(random)), number(random) > 10});
    const auto best = frontier(points, Better::More, Better::Less);
    EXPECT_FALSE(best.empty());
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool beaten = std::ranges::any_of(
            points, [&](const PlotPoint& p) { return p.fits && beats(p, points[i]); });
        const bool on_it = std::ranges::any_of(best, [&](std::size_t b) {
            return points[b].x == points[i].x && points[b].y == points[i].y;
        });
        EXPECT_TRUE(!points[i].fits || on_it == !beaten) << i;
    }
    EXPECT_THAT(frontier(points, Better::Neither, Better::Less), IsEmpty());
}

}  // namespace
}  // namespace debubble::gui
