#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"
#include "sim/cost/physical_models.h"
#include "sim/predict.h"
#include "sim/report/report.h"
#include "sim/uneven/draw.h"
#include "sim/uneven/uneven_steps.h"

/// Drawn steps of several replicas, of which the slowest ends each.
namespace debubble::sim {
namespace {

using scenarios::Scenario;

Scenario replicated(int data, const std::string& imbalance, const std::string& more = "") {
    return scenarios::parse_scenario(
        "model: {base: gpt2, layers: 4}\ncluster: hgx-h100\ngpus: " + std::to_string(2 * data) +
            "\nparallel: {pipeline: 2, data: " + std::to_string(data) + more +
            "}\ntraining: {micro_batches: 4}\nimbalance: " + imbalance + "\n",
        "job.yaml");
}

UnevenSteps drawn_steps(const Scenario& scenario) {
    return *predict(scenario).prediction.uneven;
}

constexpr const char* kReplicasJitter = "{jitter: 0.2, draws: 40}";

/// The first pipeline of a draw is that of a job with one replica, and others only add to it.
TEST(UnevenReplicas, NeverShortenAStep) {
    std::vector<Duration> before = drawn_steps(replicated(1, kReplicasJitter)).drawn;
    for (const int data : {2, 4, 8}) {
        const UnevenSteps steps = drawn_steps(replicated(data, kReplicasJitter));
        EXPECT_EQ(steps.pipelines, data);
        ASSERT_EQ(steps.drawn.size(), before.size());
        int longer = 0;
        for (std::size_t draw = 0; draw < before.size(); ++draw)
            longer += steps.drawn[draw] > before[draw] ? 1 : 0;
        EXPECT_GT(longer, static_cast<int>(before.size()) / 4) << data;
        before = steps.drawn;
    }
}

/// A step's end is a pipeline of its own draw, and the trace is that pipeline's.
TEST(UnevenReplicas, EndWithThePipelineThatIsShown) {
    const Scenario scenario = replicated(4, kReplicasJitter);
    const PredictionWithTrace predicted = predict(scenario);
    const UnevenSteps& steps = *predicted.prediction.uneven;
    EXPECT_EQ(steps.ends.draw, steps.median);
    EXPECT_EQ(seconds(predicted.trace.header.step_time.value()), steps.p50_s);
    EXPECT_EQ(predicted.prediction.step_time_s, steps.p50_s);
    EXPECT_THAT(report_text(scenario, predicted),
                testing::ContainsRegex("of 40 drawn steps, each[ \n]+the slowest of 4"));
    EXPECT_EQ(report_json(predicted)["uneven_loads"]["pipelines"], 4);
}

/// Each drawn step is the longest of its pipelines, which are independent of each other: the median
/// of the greatest of n values of a distribution is its quantile 2^(-1/n).
TEST(UnevenReplicas, LastAsLongAsTheSlowestOfIndependentPipelines) {
    constexpr int kData = 8, kDraws = 400;
    const Scenario scenario = replicated(kData, "{jitter: 0.2, draws: 400}");
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const auto even = make_cost_model(scenario, plan.stages, plan.schedule);
    const LoadCurves curves(scenario, plan.stages, plan.schedule, plan.program, *even);
    const UnevenSteps steps = play_draws(curves, *even, plan.program, {});
    std::vector<Duration> alone;
    for (int draw = 0; draw < kDraws; ++draw) {
        for (int replica = 0; replica < kData; ++replica) {
            const UnevenCostModel costs(curves, DrawnPipeline{draw, replica});
            alone.push_back(simulate(plan.program, costs).trace.header.step_time.value());
        }
        ASSERT_EQ(steps.drawn[static_cast<std::size_t>(draw)],
                  *std::max_element(alone.end() - kData, alone.end()));
    }
    const double share = std::pow(2.0, -1.0 / kData);
    EXPECT_GT(steps.p50_s, seconds(quantile(alone, share - 0.02)));
    EXPECT_LT(steps.p50_s, seconds(quantile(alone, share + 0.02)));
}

Scenario sharing(int expert, const std::string& imbalance) {
    return scenarios::parse_scenario(
        "model: {base: mixtral-8x7b, layers: 4}\ncluster: hgx-h100\ngpus: 16\n"
        "parallel: {pipeline: 2, data: 8, expert: " +
            std::to_string(expert) +
            "}\ntraining: {micro_batches: 4, expert_load: 2}\nimbalance: " + imbalance + "\n",
        "experts.yaml");
}

/// Ranks that share experts wait for each other in every all-to-all, and have one load.
TEST(UnevenReplicas, HaveOneLoadWhereTheyShareExperts) {
    const std::string loads = "{router: {spread: 0.3}, draws: 20}";
    EXPECT_EQ(pipelines_of_step(sharing(8, loads)), 1);
    EXPECT_EQ(pipelines_of_step(sharing(4, loads)), 2);
    EXPECT_EQ(pipelines_of_step(sharing(2, loads)), 4);
    EXPECT_EQ(pipelines_of_step(sharing(8, "{router: {spread: 0.3}, jitter: 0.1}")), 8);
    EXPECT_EQ(pipelines_of_step(sharing(8, "{ranks: {1: 1.1}}")), 1);
    const Scenario halves = sharing(4, loads);
    for (const int layer : {0, 3}) {
        const double load = Draw(halves, {5, 0}).load(layer, 1);
        EXPECT_EQ(Draw(halves, {5, 3}).load(layer, 1), load);
        EXPECT_NE(Draw(halves, {5, 4}).load(layer, 1), load);
        EXPECT_EQ(Draw(halves, {5, 7}).load(layer, 1), Draw(halves, {5, 4}).load(layer, 1));
    }
}

/// A slow rank is slow in every replica, and costs what the slowest of them is longer by.
TEST(UnevenReplicas, CostWhatASlowRankCostsTheSlowestOfThem) {
    const std::string slow = "{jitter: 0.2, draws: 40, ranks: {1: 1.3}}";
    const UnevenSteps steps = drawn_steps(replicated(4, slow));
    ASSERT_EQ(steps.slow.size(), 1U);
    EXPECT_GT(steps.slow[0].cost, 0.05);
    EXPECT_LE(steps.slow[0].cost, 0.3);
    const UnevenSteps without = drawn_steps(replicated(4, kReplicasJitter));
    EXPECT_DOUBLE_EQ(steps.slow[0].without_s,
                     seconds(without.drawn[static_cast<std::size_t>(steps.median)]));
}

/// More pipelines than can be played are drawn from those that are.
TEST(UnevenReplicas, AreDrawnFromThoseThatArePlayedWhereTheyAreMany) {
    Scenario scenario = replicated(4096, "{jitter: 0.2, draws: 10}");
    scenario.training.micro_batches = 64;
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const DrawnPipelines few(scenario, plan.program);
    EXPECT_EQ(few.of_step(), 4096);
    EXPECT_LT(few.played().size(), 10U * 4096);
    const std::size_t of_draw = few.played().size() / 10;
    for (int draw = 0; draw < 10; ++draw) {
        const std::vector<std::size_t> places = few.of_draw(draw);
        EXPECT_TRUE(std::ranges::is_sorted(places));
        EXPECT_EQ(std::ranges::adjacent_find(places), places.end());
        EXPECT_LT(places.back(), few.played().size());
        for (std::size_t i = 0; i < of_draw; ++i)
            EXPECT_TRUE(std::ranges::binary_search(places, draw * of_draw + i));
    }
    EXPECT_NE(few.of_draw(0), few.of_draw(1));
    EXPECT_EQ(few.of_draw(3), DrawnPipelines(scenario, plan.program).of_draw(3));
}

}  // namespace
}  // namespace debubble::sim
