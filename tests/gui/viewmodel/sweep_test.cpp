#include <chrono>
#include <random>
#include <thread>

#include <stdlib.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "gui/viewmodel/sweep/sweep_run.h"
#include "gui/viewmodel/sweep/sweep_table.h"
#include "gui/viewmodel/what_if/field.h"
#include "schedule/csv/csv.h"
#include "sim/grid/results_file.h"
#include "sim/grid/sweep.h"
#include "tests/gui/viewmodel/shipped.h"
#include "text/csv_row.h"

namespace debubble::gui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using State = SweepRun::State;

constexpr const char* kSmallGrid =
    "parallel.pipeline: [1, 2, 3, 4]\nschedule: [1f1b, gpipe]\nwhere: parallel.pipeline > 1\n";

/// The folder of a test's results.
class Folder {
public:
    Folder() : path_(std::filesystem::temp_directory_path() / "debubble-sweep-XXXXXX") {
        std::string name = path_.string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path file() const { return path_ / "results.csv"; }

private:
    std::filesystem::path path_;
};

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
    const ScenarioText swept = with_grid(source, grid_lines(source));
    const sim::Grid grid(swept.text, swept.file, {});
    ASSERT_GT(grid.points.size(), 100U);
    std::size_t fit = 0;
    for (std::size_t i = 0; i < grid.points.size(); i += 37)
        fit += sim::evaluate(grid, grid.points[i]).fits ? 1 : 0;
    EXPECT_GT(fit, 0U);
}

TEST(Sweep, of_the_window_gives_the_rows_of_the_command_line) {
    const ScenarioText source = with_grid(shipped("gpt2-xl"), kSmallGrid);
    const Folder here;
    SweepRun run(source, here.file());
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
    const Folder folder;
    SweepRun run(shipped("gpt2-xl-sweep"), folder.file());
    run.stop();
    EXPECT_EQ(wait_for(run), State::Stopped);
    const SweepRun::Progress progress = run.progress();
    EXPECT_LT(progress.done, progress.total);
}

std::vector<std::string> rows_of(SweepRun& run) {
    std::vector<std::string> rows;
    for (const sim::SweepRow& row : run.take_rows())
        rows.push_back(fmt::format("{}", fmt::join(sim::csv_fields(row), ",")));
    std::ranges::sort(rows);
    return rows;
}

TEST(Sweep, goes_on_where_it_was_stopped) {
    const Folder folder;
    const Folder other;
    const ScenarioText source = with_grid(shipped("gpt2-xl"), kSmallGrid);
    SweepRun whole(source, other.file());
    ASSERT_EQ(wait_for(whole), State::Finished);
    {  // like a sweep that was killed after two points
        const std::string all = read_file(other.file());
        std::size_t end = 0;
        for (int lines = 0; lines < 3; ++lines) end = all.find('\n', end) + 1;
        write_file(folder.file(), all.substr(0, end));
    }
    SweepRun resumed(source, folder.file());
    ASSERT_EQ(wait_for(resumed), State::Finished);
    EXPECT_EQ(resumed.progress().found, 2);
    EXPECT_EQ(resumed.progress().done, resumed.progress().total);
    EXPECT_EQ(rows_of(resumed), rows_of(whole));
    EXPECT_EQ(read_file(folder.file()), read_file(other.file()));
}

TEST(Sweep, begins_anew_where_the_file_is_no_longer_true) {
    const Folder folder;
    const ScenarioText source = with_grid(shipped("gpt2-xl"), kSmallGrid);
    {
        SweepRun run(source, folder.file());
        ASSERT_EQ(wait_for(run), State::Finished);
    }
    std::string text = read_file(folder.file());
    const std::size_t digit = text.find("gpt2-xl,0.") + 10;  // a digit of a step's time
    ASSERT_LT(digit, text.size());
    text[digit] = text[digit] == '9' ? '1' : '9';
    write_file(folder.file(), text);
    SweepRun again(source, folder.file());
    ASSERT_EQ(wait_for(again), State::Finished);
    EXPECT_EQ(again.progress().found, 0);
    EXPECT_EQ(again.progress().done, again.progress().total);
}

TEST(Sweep, goes_on_without_a_file_that_another_sweep_writes) {
    const Folder folder;
    const ScenarioText source = with_grid(shipped("gpt2-xl"), kSmallGrid);
    const sim::Grid grid(source.text, source.file, {});
    const sim::ResultsFile held(folder.file(), grid);
    const std::string before = read_file(folder.file());
    SweepRun run(source, folder.file());
    ASSERT_EQ(wait_for(run), State::Finished);
    EXPECT_FALSE(run.progress().kept);
    EXPECT_EQ(rows_of(run).size(), 6U);
    EXPECT_EQ(read_file(folder.file()), before);
}

TEST(Sweep, goes_on_where_no_file_can_be_written) {
    const Folder folder;
    write_file(folder.file(), "");
    SweepRun run(with_grid(shipped("gpt2-xl"), kSmallGrid), folder.file() / "below-a-file.csv");
    ASSERT_EQ(wait_for(run), State::Finished);
    EXPECT_FALSE(run.progress().kept);
    EXPECT_EQ(rows_of(run).size(), 6U);
}

/// Only one value of the grid names the file, and not in the first row.
TEST(Sweep, begins_anew_where_a_file_that_one_value_names_has_changed) {
    const Folder folder;
    const std::filesystem::path order = folder.file().parent_path() / "order.csv";
    const auto write_order = [&](const char* schedule) {
        write_file(
            order,
            write_csv(sim::predict(scenarios::read_scenario("gpt2-xl", {{"schedule", schedule}}))
                          .trace.program));
    };
    const ScenarioText source = with_grid(
        shipped("gpt2-xl"), fmt::format("schedule: [1f1b, {{csv: {}}}]\n", order.string()));
    write_order("1f1b");
    {
        SweepRun run(source, folder.file());
        ASSERT_EQ(wait_for(run), State::Finished);
        const auto rows = rows_of(run);
        EXPECT_THAT(rows, testing::SizeIs(2));
    }
    write_order("gpipe");
    SweepRun again(source, folder.file());
    ASSERT_EQ(wait_for(again), State::Finished);
    EXPECT_EQ(again.progress().found, 0);
    const Folder empty;
    SweepRun fresh(source, empty.file());
    ASSERT_EQ(wait_for(fresh), State::Finished);
    EXPECT_EQ(rows_of(again), rows_of(fresh));
}

TEST(Sweep, keeps_the_rows_of_every_grid_apart) {
    const ScenarioText a = with_grid(shipped("gpt2-xl"), kSmallGrid);
    const ScenarioText b = with_grid(shipped("gpt2-xl"), "schedule: [1f1b]");
    EXPECT_NE(results_of("/data", a), results_of("/data", b));
    EXPECT_EQ(results_of("/data", a), results_of("/data", a));
    EXPECT_THAT(results_of("/data", a).string(), testing::StartsWith("/data/gpt2-xl-"));
    // The same words mean other files elsewhere.
    const ScenarioText mine{a.text, "mine.yaml"};
    const auto here = std::filesystem::current_path();
    const Folder other;
    const auto of_here = results_of("/data", mine);
    std::filesystem::current_path(other.file().parent_path());
    EXPECT_NE(results_of("/data", mine), of_here);
    std::filesystem::current_path(here);
}

/// Ten thousand invented plans, which the window processes between two frames.
TEST(SweepTable, of_ten_thousand_rows_is_sorted_filtered_and_plotted_at_once) {
    const Folder folder;
    SweepRun run(with_grid(shipped("gpt2-xl"), kSmallGrid), folder.file());
    (void)wait_for(run);
    SweepTable table(run.grid());
    std::vector<sim::SweepRow> rows = run.take_rows();
    const std::vector<sim::SweepRow> few = rows;
    while (rows.size() < 10'000) {
        rows.push_back(few[rows.size() % few.size()]);
        // All are different plans, without duplicates.
        if (rows.back().possible())
            (*rows.back().figures)["step_time_s"] *= 1 + 1e-9 * double(rows.size());
    }
    table.add(rows);
    const auto begun = std::chrono::steady_clock::now();
    const auto order = table.order(table.column_of("tokens_per_s"), true, "gpipe");
    const auto points = points_of(table, order, table.column_of("peak_memory_bytes"),
                                  table.column_of("tokens_per_s"));
    const auto best = frontier(points, Better::Less, Better::More);
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_THAT(order.size(), testing::AllOf(testing::Ge(4000), testing::Le(6000)));
    EXPECT_FALSE(best.empty());
    RecordProperty("milliseconds", std::to_string(took / std::chrono::milliseconds(1)));
}

TEST(Sweep, tells_what_is_wrong_with_the_grid) {
    const Folder folder;
    SweepRun run(with_grid(shipped("gpt2-xl"), "parallel.tensr: [1, 2]\n"), folder.file());
    ASSERT_EQ(wait_for(run), State::Failed);
    EXPECT_THAT(run.mistakes().front().message, HasSubstr("tensr"));
}

SweepTable small_table() {
    const Folder folder;
    SweepRun run(with_grid(shipped("gpt2-xl"), kSmallGrid), folder.file());
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
    const std::size_t gpipe = table.order(0, false, "gpipe fits").front();
    EXPECT_EQ(table.text(gpipe, table.column_of("unvalidated")), "schedule gpipe");
    EXPECT_THAT(table.order(0, false, "schedule"), IsEmpty());
}

TEST(SweepTable, says_where_nobody_can_tell_whether_a_plan_fits) {
    SweepTable table = small_table();
    const std::size_t best = table.order(table.column_of("tokens_per_s"), true, "fits").front();
    sim::SweepRow full = table.rows()[best];
    (*full.figures)["memory_verdict"] = double(sim::MemoryVerdict::CannotBeTold);
    table.add({full});
    EXPECT_EQ(table.text(best, table.column_of("fits")), "fits");
    EXPECT_EQ(table.text(table.rows().size() - 1, table.column_of("fits")), "cannot be told");
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

TEST(SweepTable, lists_a_plan_that_other_keys_give_too_once_and_the_best_first) {
    const ScenarioText source =
        with_grid(shipped("gpt2-xl-1f1b"),
                  "schedule: [1f1b, gpipe, zb-h1, zb-v]\nparallel.sequence: [false, true]\n");
    const Folder folder;
    SweepRun run(source, folder.file());
    ASSERT_EQ(wait_for(run), State::Finished);
    SweepTable table(run.grid());
    table.add(run.take_rows());
    // Without tensor parallelism, sequence parallelism makes no difference.
    EXPECT_EQ(table.duplicates(), 4U);
    const std::vector<std::size_t> order = table.best_first("");
    ASSERT_EQ(order.size(), 4U);
    const std::size_t rate = table.column_of("tokens_per_s");
    for (std::size_t i = 1; i < order.size(); ++i) {
        const bool fits = table.rows()[order[i]].fits;
        const bool before = table.rows()[order[i - 1]].fits;
        EXPECT_GE(before, fits) << "those that fit come first";
        if (before == fits) {
            EXPECT_GE(*table.number(order[i - 1], rate), *table.number(order[i], rate));
        }
    }
    for (const std::size_t row : order)
        EXPECT_EQ(table.rows()[row].values.back(), "false") << "the first of the grid is listed";
    const std::string csv = table.csv(order);
    EXPECT_EQ(std::ranges::count(csv, '\n'), 9) << "a table in a file has the duplicates, marked";
}

TEST(SweepTable, tells_what_of_its_scenario_has_changed) {
    const ScenarioText swept = shipped("gpt2-xl-sweep");
    const sim::Grid grid(swept.text, swept.file, {});
    const auto changed = [&](const char* key, const char* value) {
        return ground_of_rows(swept, with_change(swept, key, value), grid);
    };
    EXPECT_EQ(ground_of_rows(swept, swept, grid), "");
    EXPECT_EQ(ground_of_rows(swept, {swept.text + "# a remark\n", swept.file}, grid), "");
    EXPECT_THAT(changed("gpus", "16"), HasSubstr("gpus 8"));
    const std::string key = grid.sweep.keys.front().key;
    EXPECT_EQ(changed(key.c_str(), grid.sweep.keys.front().values.back().c_str()), "")
        << "a point of the grid is not another scenario";
    EXPECT_EQ(ground_of_rows(swept, {swept.text + "x: [1\n", swept.file}, grid), "");
}

}  // namespace
}  // namespace debubble::gui
