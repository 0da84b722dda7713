#include "gui/viewmodel/what_if/run_view.h"

#include <gmock/gmock.h>

#include "gui/viewmodel/what_if/plan_figures.h"
#include "scenarios/read/read_scenario.h"

/// The values of the tab "Run".
namespace debubble::gui {
namespace {

const ScenarioText& small_training() {
    static const ScenarioText kText{
        "model: {base: llama3-8b, layers: 8}\ncluster: hgx-h100\nnodes: 16\n"
        "parallel: {data: auto}\n"
        "training: {micro_batches: 2, micro_batch: 1, seq_length: 4096, tokens: 500B}\n"
        "reliability: {base: llama3-2024, draws: 40, failures_per_gpu_year: 20}\n"
        "price: {gpu_hour: 2 USD}\n",
        "small.yaml"};
    return kText;
}

const sim::RunPlan& planned_run() {
    static const sim::RunPlan kPlan = *figures_of_plan(small_training(), {})->run;
    return kPlan;
}

TEST(RunView, HasNodesAroundThePresentOnes) {
    EXPECT_EQ(nodes_around(16, 1), (std::vector{4, 6, 8, 11, 16, 23, 32, 45, 64}));
    EXPECT_EQ(nodes_around(16, 8), (std::vector{8, 16, 24, 32, 48, 64}));
    EXPECT_EQ(nodes_around(1, 1), (std::vector{1, 2, 3, 4}));
}

TEST(RunView, HasACurveOfDaysAndCostWithItsBand) {
    const std::vector<RunOnNodes> points = runs_over_nodes(small_training(), {32, 8, 16});
    ASSERT_EQ(points.size(), 3u);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const RunOnNodes& point = points[i];
        EXPECT_EQ(point.gpus, 8 * point.nodes);
        EXPECT_LE(point.days_p5, point.days);
        EXPECT_LE(point.days, point.days_p95);
        EXPECT_NEAR(*point.cost, 2 * 24 * point.days * point.gpus, 1);
        if (i > 0) {
            EXPECT_LT(point.days, points[i - 1].days);
            EXPECT_LT(point.goodput, points[i - 1].goodput);
        }
    }
    EXPECT_NEAR(points[1].days, planned_run().days(), 1e-9);
    EXPECT_TRUE(runs_over_nodes({"model: gpt2-xl\ncluster: hgx-h100\n", "x.yaml"}, {1}).empty());
}

TEST(RunView, HasAWaterfallThatEndsAtTheWholeRun) {
    const std::vector<WaterfallPart> parts = waterfall_of(planned_run());
    ASSERT_GE(parts.size(), 4u);
    EXPECT_EQ(parts.front().spent, sim::RunTime::Useful);
    EXPECT_EQ(parts.front().to, planned_run().figures.goodput());
    double from = 0;
    for (const WaterfallPart& part : parts) {
        EXPECT_EQ(part.from, from);
        EXPECT_FALSE(part.words.empty());
        from = part.to;
    }
    EXPECT_NEAR(from, 1, 1e-9);
}

TEST(RunView, HasAStripWhoseColumnsAddUpAtAnyZoom) {
    const RunStrip strip(planned_run(), 1, 0);
    const auto sum = [](const std::vector<sim::RunSeconds>& columns) {
        double all = 0;
        for (const sim::RunSeconds& column : columns)
            for (const double s : column) all += s;
        return all;
    };
    EXPECT_NEAR(sum(strip.columns(0, strip.length(), 640)), strip.length(), 1e-3);
    const double from = 0.3 * strip.length();
    const double to = 0.3001 * strip.length();
    EXPECT_NEAR(sum(strip.columns(from, to, 7)), to - from, 1e-6);
    const sim::RunSpell* const spell = strip.at(from);
    ASSERT_TRUE(spell);
    EXPECT_LE(spell->begin, from);
    EXPECT_GT(spell->end, from);
    EXPECT_EQ(strip.at(2 * strip.length()), nullptr);
    double failures = 0;
    for (const sim::RunSpell& one : strip.spells())
        failures += one.spent == sim::RunTime::Detection ? 1 : 0;
    EXPECT_GT(failures, 3);
}

TEST(RunView, ShowsWhatASliderOfTheIntervalDoesAndWritesIt) {
    const std::int64_t best = planned_run().figures.job.save_every;
    EXPECT_LT(goodput_with_interval(planned_run(), 200 * best, 1),
              goodput_with_interval(planned_run(), best, 1));
    const ScenarioText later = with_interval(small_training(), planned_run(), 200 * best);
    const sim::RunPlan run = *figures_of_plan(later, {})->run;
    EXPECT_NEAR(static_cast<double>(run.figures.job.save_every) / static_cast<double>(200 * best),
                1, 0.01);
    EXPECT_FALSE(run.chose_interval);
}

}  // namespace
}  // namespace debubble::gui
