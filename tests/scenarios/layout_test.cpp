#include <gtest/gtest.h>

#include "models/execution/execution.h"
#include "models/partition/partition.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"

/// Scenarios whose stages Megatron-Core's layout strings cut.
namespace debubble::scenarios {
namespace {

Scenario with_layout(const std::string& layout, int pipeline, const std::string& schedule) {
    return parse_scenario(
        "model: deepseek-v3\ncluster: hgx-h100\ngpus: 64\nparallel: {pipeline: " +
            std::to_string(pipeline) + ", expert: 4, expert_tensor: 1, layout: \"" + layout +
            "\"}\nschedule: " + schedule + "\ntraining: {micro_batches: 32, seq_length: 4096}\n",
        "layout.yaml");
}

TEST(LayoutOfAScenario, CutsTheModelAndSaysHowManyStagesARankHas) {
    const Scenario s = with_layout("Et*4|(t*4|)*14tmL", 4, "interleaved-1f1b");
    EXPECT_EQ(s.parallel.stages_per_rank, 4);
    EXPECT_EQ(s.model.mtp_layers, 1);
    const auto stages = partition_of(s, 16);
    EXPECT_EQ(stages.front().layers, 4);
    EXPECT_EQ(stages.back().layers, 1);
    EXPECT_EQ(stages.back().first_layer, 60);
    EXPECT_EQ(models::layout_of(stages, s.model.mtp_layers), *s.parallel.layout);
}

TEST(LayoutOfAScenario, HasNoPredictionWhereItNamesNone) {
    EXPECT_EQ(with_layout("Et*4|(t*4|)*14tL", 16, "1f1b").model.mtp_layers, 0);
}

/// NVIDIA's layout of DeepSeek-V3 on 16 ranks of 2 chunks. Together the stages have the parameters
/// of the network and its prediction layer, and a copy of the table (129,280 x 7,168).
TEST(LayoutOfAScenario, HasPredictionsInAStageOfTheirOwn) {
    const Scenario s = with_layout("Et*3|(t*2|)*29m|L", 16, "interleaved-1f1b");
    EXPECT_EQ(s.parallel.prediction_stage, 30);
    const auto stages = partition_of(s, 32);
    EXPECT_EQ(models::layout_of(stages, s.model.mtp_layers), *s.parallel.layout);
    const auto elements = [&](const std::vector<models::StageContent>& contents) {
        std::int64_t sum = 0;
        models::Execution whole;
        for (const models::StageContent& content : contents)
            sum += models::build_stage(s.model, whole, content).parameter_elements();
        return sum;
    };
    const std::int64_t table = 129'280LL * 7168;
    EXPECT_EQ(elements(stages), 671'026'404'352 + 11'610'067'968 + table);
    EXPECT_EQ(elements({stages[31]}), table) << "the last has the head alone";
    EXPECT_EQ(make_plan(s).lowering.tied, (std::vector{Stage{0}, Stage{30}}));
}

TEST(PartitionOfAScenario, SaysHowManyStagesARankHas) {
    const Scenario s = parse_scenario(
        "model: llama3-8b\ncluster: hgx-h100\ngpus: 2\nparallel: {pipeline: 2, partition: [0, 16, "
        "16, 0]}\nschedule: interleaved-1f1b\ntraining: {micro_batches: 4}\n",
        "list.yaml");
    EXPECT_EQ(s.parallel.stages_per_rank, 2);
    EXPECT_EQ(partition_of(s, 4)[3].layers, 0);
}

TEST(LayoutOfAScenario, TakesInnerStagesWithoutLayers) {
    const Scenario s = with_layout("Et*20||t*20|t*21L", 4, "1f1b");
    EXPECT_EQ(partition_of(s, 4)[1].layers, 0);
}

}  // namespace
}  // namespace debubble::scenarios
