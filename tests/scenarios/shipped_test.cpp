#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/shelf.h"
#include "scenarios/cluster_reader.h"
#include "scenarios/framework_reader.h"
#include "scenarios/read_scenario.h"

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

TEST(ShippedCluster, EveryFileReadsAndEveryConstantSaysWhereItComesFrom) {
    const auto names = models::shipped_names("scenarios/clusters");
    EXPECT_GE(names.size(), 8u);
    for (const std::string& name : names) {
        const Cluster cluster = read_cluster(name);
        EXPECT_EQ(cluster.name, name);
        EXPECT_FALSE(cluster.source.empty()) << name;
        EXPECT_GT(cluster.origins.size(), 12u) << name;
        for (const auto& [constant, origin] : cluster.origins)
            EXPECT_THAT(origin.source, testing::Not(testing::AnyOf(testing::StartsWith("set in"),
                                                                   testing::StrEq("not said"))))
                << name << ' ' << constant;
    }
}

TEST(ShippedFramework, EveryFileReads) {
    const auto names = models::shipped_names("scenarios/frameworks");
    EXPECT_GE(names.size(), 5u);
    models::Shelf shelf;
    for (const std::string& name : names) {
        models::Mistakes mistakes;
        const Framework framework = read_framework(models::make_scalar(name, {}), shelf, mistakes);
        EXPECT_NO_THROW(mistakes.throw_if_any());
        EXPECT_EQ(framework.name, name);
        EXPECT_FALSE(framework.source.empty()) << name;
    }
}

}  // namespace
}  // namespace debubble::scenarios
