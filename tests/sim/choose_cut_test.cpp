#include "sim/choose.h"

#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "sim/grid/grid.h"
#include "sim/plan/plan_bound.h"
#include "sim/predict.h"
#include "sim/report/report.h"
#include "tests/sim/random_scenarios.h"

/// `parallel.partition: balanced` is a choice by prices: uniform, or by priced pass times.
namespace debubble::sim {
namespace {

using scenarios::Partition;
using scenarios::Scenario;
using testing::HasSubstr;

const PredictOptions kFigures{
    .keep_trace = false, .draw_loads = false, .explain = false, .only_where_it_decides = true};

Scenario with_partition(Scenario scenario, Partition partition) {
    scenario.parallel.partition = partition;
    scenario.parallel.layers_per_stage.clear();
    return scenario;
}

/// A plan of two stages whose head is heavier by its FLOPs than by its time.
Scenario with_heavy_head(const std::string& more = "") {
    return scenarios::parse_scenario(
        "model: llama3-8b\ncluster: hgx-b200\n"
        "parallel: {tensor: 2, pipeline: 2, data: 2, zero_stage: 1, partition: balanced}\n"
        "schedule: 1f1b\n"
        "training: {micro_batch: 1, micro_batches: 8, seq_length: 1024, precision: bf16, "
        "recompute: full}\nframework: megatron-2026\n" +
            more,
        "heavy-head.yaml");
}

std::vector<int> layers_of(const Prediction& prediction) {
    return prediction.cut ? prediction.cut->layers_per_stage : std::vector<int>{};
}

TEST(BalancedCut, IsNeverSlowerThanTheUniformOne) {
    int compared = 0;
    int faster = 0;
    RandomWish wish;
    wish.pipeline = true;
    const int planned = for_random_scenarios(
        [&](const RandomScenario& drawn) {
            if (drawn.scenario.parallel.partition == Partition::Explicit) return;
            const Prediction uniform =
                predict(with_partition(drawn.scenario, Partition::Uniform), kFigures).prediction;
            const Prediction balanced =
                predict(with_partition(drawn.scenario, Partition::Balanced), kFigures).prediction;
            EXPECT_TRUE(balanced.fits || !uniform.fits);
            if (balanced.fits == uniform.fits) {
                EXPECT_LE(balanced.step_time_s, uniform.step_time_s) << balanced.cut->words;
            }
            const std::vector<int> layers = layers_of(balanced);
            EXPECT_EQ(std::reduce(layers.begin(), layers.end()),
                      drawn.scenario.model.layers.count());
            ++compared;
            faster += static_cast<int>(balanced.step_time_s < uniform.step_time_s);
        },
        wish);
    EXPECT_EQ(compared, planned);
    EXPECT_GE(compared, number_of_random_scenarios() / 2);
    EXPECT_GE(faster, compared / 10) << "a cut that only repeats the uniform one balances nothing";
}

TEST(BalancedCut, HasABoundThatNeitherCutGoesBelow) {
    RandomWish wish;
    wish.pipeline = true;
    for_random_scenarios(
        [&](const RandomScenario& drawn) {
            const Scenario balanced = with_partition(drawn.scenario, Partition::Balanced);
            const PlanBound bound = bound_of(balanced);
            for (const Scenario& cut : cuts_to_choose_from(balanced)) {
                const Prediction p = predict(cut, kFigures).prediction;
                EXPECT_LE(bound.step_time_s, p.step_time_s * (1 + 1e-9));
            }
        },
        wish, 40);
}

TEST(BalancedCut, WeighsByTimesAndNotByFlops) {
    const Scenario scenario = with_heavy_head();
    const PredictionWithTrace answer = predict(scenario, kFigures);
    const Prediction uniform =
        predict(with_partition(scenario, Partition::Uniform), kFigures).prediction;
    EXPECT_LE(answer.prediction.step_time_s, uniform.step_time_s);
    Scenario by_flops = with_partition(scenario, Partition::Explicit);
    by_flops.parallel.layers_per_stage = {17, 15};
    EXPECT_LT(answer.prediction.step_time_s, predict(by_flops, kFigures).prediction.step_time_s);
}

TEST(BalancedCut, IsTheSameWhoeverAsks) {
    const Scenario scenario = with_heavy_head();
    const PredictionWithTrace answer = predict(scenario);
    const std::vector<int> layers = layers_of(answer.prediction);
    EXPECT_EQ(answer.played.parallel.layers_per_stage, layers);
    EXPECT_EQ(answer.played.parallel.partition, Partition::Explicit);
    EXPECT_EQ(with_choices_made(scenario).parallel.layers_per_stage, layers);
    std::vector<int> of_plan;
    for (const models::StageContent& stage : priced_plan(scenario).stages)
        of_plan.push_back(stage.layers);
    EXPECT_EQ(of_plan, layers);
    Scenario listed = scenario;
    listed.parallel.partition = Partition::Explicit;
    listed.parallel.layers_per_stage = layers;
    EXPECT_EQ(predict(listed).prediction.step_time_s, answer.prediction.step_time_s);
    EXPECT_FALSE(predict(listed).prediction.cut);
}

/// A head that takes as long as some layers: the last stage has fewer of them.
TEST(BalancedCut, TakesLayersFromTheStageOfALongHead) {
    const Scenario scenario = scenarios::read_scenario("gpt2-xl-pipeline");
    const Prediction balanced = predict(scenario, kFigures).prediction;
    const Prediction uniform =
        predict(with_partition(scenario, Partition::Uniform), kFigures).prediction;
    EXPECT_LT(balanced.step_time_s, 0.97 * uniform.step_time_s);
    EXPECT_LT(layers_of(balanced).back(), 12);
    EXPECT_THAT(balanced.cut->words, HasSubstr("by priced times; the uniform cut, 12, 12, 12, 12"));
}

TEST(BalancedCut, ThatFitsIsTakenBeforeAFasterOneThatDoesNot) {
    Scenario scenario =
        scenarios::read_scenario("gpt2-xl-pipeline", {{"model", "{base: gpt2-xl, vocab: 200000}"}});
    const PredictOptions reserved{.keep_trace = false};
    const Prediction free = predict(scenario, reserved).prediction;
    const Prediction uniform =
        predict(with_partition(scenario, Partition::Uniform), reserved).prediction;
    ASSERT_NE(free.memory_left, uniform.memory_left);
    // A device that only the smaller one of both fits into.
    const Bytes more = std::max(free.memory_left, uniform.memory_left);
    scenario.cluster.gpu.memory = scenario.cluster.gpu.memory - more;
    const Prediction tight = predict(scenario, kFigures).prediction;
    EXPECT_TRUE(tight.fits);
    EXPECT_EQ(tight.step_time_s,
              uniform.memory_left == more ? uniform.step_time_s : free.step_time_s);
    scenario.cluster.gpu.memory = scenario.cluster.gpu.memory - Bytes{1};
    const Prediction none = predict(scenario, kFigures).prediction;
    EXPECT_FALSE(none.fits);
    EXPECT_EQ(none.step_time_s, std::min(uniform.step_time_s, free.step_time_s));
}

TEST(BalancedCut, IsChosenTogetherWithWhatRunsAgain) {
    Scenario scenario = scenarios::read_scenario(
        "gpt2-xl-pipeline",
        {{"model", "{base: gpt2-xl-colossal, layers: 12}"}, {"training.recompute", "auto"}});
    const Prediction balanced = predict(scenario, kFigures).prediction;
    const Prediction uniform =
        predict(with_partition(scenario, Partition::Uniform), kFigures).prediction;
    ASSERT_TRUE(balanced.recompute);
    ASSERT_TRUE(balanced.cut);
    EXPECT_LE(balanced.step_time_s, uniform.step_time_s);
    const Scenario made = with_choices_made(scenario);
    EXPECT_FALSE(made.training.chooses_recompute);
    EXPECT_EQ(made.parallel.layers_per_stage, layers_of(balanced));
    EXPECT_EQ(predict(made, kFigures).prediction.step_time_s, balanced.step_time_s);
}

TEST(BalancedCut, OfASweepIsATwinOfTheUniformOneWhereItIsThat) {
    const Grid grid(
        "model: {base: llama3-8b, layers: 8}\ncluster: hgx-h100\ngpus: 8\n"
        "parallel: {pipeline: 2, data: auto}\n"
        "training: {micro_batch: 1, micro_batches: 8, seq_length: 512}\n"
        "sweep: {parallel.partition: [uniform, balanced, [4, 4]]}\n",
        "twins.yaml", {});
    std::vector<SweepRow> rows;
    for (const std::size_t point : grid.points) rows.push_back(evaluate(grid, point));
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].figures, rows[2].figures);
    EXPECT_LE(rows[1].figure("step_time_s"), rows[0].figure("step_time_s"));
    EXPECT_THAT(rows[1].plan.value(), HasSubstr("; balanced is ["));
}

}  // namespace
}  // namespace debubble::sim
