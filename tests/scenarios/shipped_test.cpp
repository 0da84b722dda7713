
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/graph.h"
#include "models/partition/partition.h"
#include "scenarios/cluster/reader.h"
#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "scenarios/software/reader.h"
#include "schedule/generators/generators.h"
#include "text/shipped_files.h"

namespace debubble::scenarios {
namespace {

TEST(ShippedScenario, EveryFileReadsWithoutAMistake) {
    const auto names = shipped_scenarios();
    EXPECT_FALSE(names.empty());
    for (const std::string& name : names) {
        EXPECT_NO_THROW({
            const Scenario scenario = read_scenario(name);
            EXPECT_EQ(scenario.name, name);
            EXPECT_FALSE(scenario.description.empty()) << name;
            EXPECT_EQ(scenario.gpus, scenario.parallel.gpus()) << name;
            EXPECT_EQ(scenario.training.global_batch, scenario.training.micro_batch *
                                                          scenario.training.micro_batches *
                                                          scenario.parallel.data)
                << name;
        }) << name;
        EXPECT_NO_THROW(read_sweep(name)) << name;
    }
}

/// Contents of the first and the last stage: they hold all that an inner one holds.
std::vector<models::StageContent> end_stages(const Scenario& s) {
    const int stages = s.pipeline_shape().stages();
    const auto all =
        s.parallel.partition == Partition::Explicit
            ? models::explicit_stages(s.parallel.layers_per_stage, s.model.layers.count(), stages)
            : models::uniform_stages(s.model.layers.count(), s.parallel.pipeline,
                                     s.parallel.stages_per_rank);
    return {all.front(), all.back()};
}

/// What the reader admits must not be refused by those who build on it.
TEST(ShippedScenario, ItsStagesCanBeBuiltAndItsScheduleGenerated) {
    for (const std::string& name : shipped_scenarios()) {
        const Scenario s = read_scenario(name);
        for (const models::StageContent& content : end_stages(s))
            EXPECT_NO_THROW(models::build_stage(s.model, execution_of(s), content)) << name;
        const Schedule schedule = generate(s.schedule.name, s.pipeline_shape(),
                                           scenarios::generator_options_of(s.schedule));
        EXPECT_EQ(static_cast<int>(schedule.ranks.size()), s.parallel.pipeline) << name;
    }
}

/// Every schedule can be compared with the others for the same model and cluster.
TEST(ShippedScenario, OnePipelineTakesEverySchedule) {
    for (const Generator& generator : generators()) {
        const int stages = generator.stages_per_rank.value_or(3);
        const Scenario s =
            read_scenario("gpt2-xl-pipeline",
                          {parse_override(fmt::format("schedule={{name: {}, stages_per_rank: {}}}",
                                                      generator.name, stages))});
        EXPECT_EQ(s.schedule.name, generator.name);
        EXPECT_NO_THROW(
            generate(s.schedule.name, s.pipeline_shape(), generator_options_of(s.schedule)));
    }
}

TEST(ShippedCluster, EveryFileReadsAndEveryConstantSaysWhereItComesFrom) {
    const auto names = text::shipped_names("scenarios/clusters");
    EXPECT_GE(names.size(), 8u);
    for (const std::string& name : names) {
        const Cluster cluster = read_cluster(name);
        EXPECT_EQ(cluster.name, name);
        EXPECT_FALSE(cluster.source.empty()) << name;
        EXPECT_GT(cluster.origins.size(), 12u) << name;
        for (const auto& [constant, origin] : cluster.origins)
            EXPECT_THAT(origin.source, testing::Not(testing::AnyOf(testing::StartsWith("set in"),
                                                                   testing::StrEq("not stated"))))
                << name << ' ' << constant;
    }
}

TEST(ShippedFramework, EveryFileReads) {
    const auto names = text::shipped_names("scenarios/frameworks");
    EXPECT_GE(names.size(), 5u);
    text::ShippedFiles shipped;
    for (const std::string& name : names) {
        text::Mistakes mistakes;
        const Framework framework = read_framework(text::make_scalar(name, {}), shipped, mistakes);
        EXPECT_NO_THROW(mistakes.throw_if_any());
        EXPECT_EQ(framework.name, name);
        EXPECT_FALSE(framework.source.empty()) << name;
    }
}

}  // namespace
}  // namespace debubble::scenarios
