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
        EXPECT_FALSE(part.name.empty());
        EXPECT_TRUE(part.takes.ends_with(" %"));
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

TEST(RunView, FindsFailuresAndTheEndsOfSteps) {
    const RunStrip strip(planned_run(), 1, 0);
    const sim::DrawnRun drawn = sim::draw_run(planned_run().figures.job, 1, 0);
    // A failure during a downtime does not begin another one.
    EXPECT_EQ(strip.failures().size(), static_cast<std::size_t>(drawn.failures));
    const double step = planned_run().figures.job.step;
    const std::vector<double> ends = strip.step_ends(0, 10.5 * step, 100);
    ASSERT_GE(ends.size(), 5u);
    EXPECT_NEAR(ends[0], step, 1e-9);
    EXPECT_NEAR(ends[1] - ends[0], step, 1e-9);
    EXPECT_TRUE(strip.step_ends(0, strip.length(), 100).empty()) << "too many to be seen";
}

TEST(RunView, LaysNodesOfWholeReplicasAndWholeBatches) {
    const auto nodes_of = [](const std::string& keys) {
        return nodes_around(scenarios::parse_scenario(
            "model: {base: llama3-8b, layers: 8}\ncluster: hgx-h100\nnodes: 16\n" + keys,
            "here.yaml"));
    };
    EXPECT_EQ(nodes_of("parallel: {data: auto}\ntraining: {micro_batches: 2}\n"),
              (std::vector{4, 6, 8, 11, 16, 23, 32, 45, 64}));
    EXPECT_EQ(nodes_of("parallel: {tensor: 8, pipeline: 4, data: auto}\n"
                       "training: {micro_batches: 4}\n"),
              (std::vector{4, 8, 12, 16, 24, 32, 44, 64}));
    // 256 samples cannot be dealt to 48 or 88 replicas.
    EXPECT_EQ(nodes_of("parallel: {data: auto}\ntraining: {global_batch: 256}\n"),
              (std::vector{4, 8, 16, 32}));
}

TEST(RunView, SaysWhatAScenarioLacksAndTypesIt) {
    const ScenarioText bare{"model: gpt2-xl\ncluster: hgx-h100\ntraining: {steps: 10}\n",
                            "bare.yaml"};
    const auto scenario = scenarios::parse_scenario(bare.text, bare.file);
    const auto lacks = missing_run_keys(scenario, 1'558'000'000);
    ASSERT_EQ(lacks.size(), 2u);
    EXPECT_EQ(lacks[0], (scenarios::Override{"training.tokens", "30B"}));
    EXPECT_EQ(lacks[1], (scenarios::Override{"reliability", "llama3-2024"}));
    ScenarioText typed = bare;
    for (const scenarios::Override& key : lacks) typed = with_run_key(std::move(typed), key);
    const auto figures = figures_of_plan(typed, {});
    ASSERT_TRUE(figures) << typed.text;
    ASSERT_TRUE(figures->run);
    EXPECT_EQ(figures->run->tokens, 30'000'000'000);
    EXPECT_GT(figures->run->figures.job.failures.sum(), 0);
    EXPECT_TRUE(missing_run_keys(scenarios::parse_scenario(typed.text, typed.file), 1).empty());
}

TEST(RunView, HasASliderWhoseBestPlaceIsWhatAutoTakes) {
    const sim::RunPlan& run = planned_run();
    const IntervalCurve curve = interval_curve(run, 1);
    ASSERT_GE(curve.places.size(), 5u);
    EXPECT_EQ(curve.present, curve.best) << "the plan's interval is auto";
    EXPECT_EQ(curve.places[curve.present].steps, run.figures.job.save_every);
    double most = 0;
    for (std::size_t i = 0; i < curve.places.size(); ++i) {
        most = std::max(most, curve.places[i].goodput);
        if (i == 0) continue;
        EXPECT_GT(curve.places[i].steps, curve.places[i - 1].steps);
    }
    EXPECT_GT(curve.places[curve.best].goodput, most - 0.002);
    EXPECT_LT(curve.places.back().goodput, most);
    const ScenarioText later = with_interval(small_training(), run, curve.places.back().steps);
    const IntervalCurve moved = interval_curve(*figures_of_plan(later, {})->run, 1);
    EXPECT_GT(moved.present, moved.best);
    EXPECT_EQ(moved.places[moved.best].steps, run.figures.job.save_every);
    EXPECT_TRUE(figures_of_plan(with_best_interval(later), {})->run->chose_interval);
    sim::RunPlan calm = run;
    calm.figures.job.failures = {};
    EXPECT_TRUE(interval_curve(calm, 1).places.empty());
}

TEST(RunView, GivesEveryCauseAColourOfItsOwn) {
    for (const auto theme : {picture::Theme::Light, picture::Theme::Dark})
        for (std::size_t a = 0; a < sim::kRunTimes; ++a)
            for (std::size_t b = 0; b < a; ++b)
                EXPECT_NE(hex(colour_of(static_cast<sim::RunTime>(a), theme)),
                          hex(colour_of(static_cast<sim::RunTime>(b), theme)));
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
