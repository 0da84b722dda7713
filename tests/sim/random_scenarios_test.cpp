#include "tests/sim/random_scenarios.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "schedule/generators/generators.h"
#include "text/shipped_files.h"

namespace debubble::sim {
namespace {

TEST(RandomScenarios, AreTheSameForASeed) {
    EXPECT_EQ(random_scenario(7).text, random_scenario(7).text);
    EXPECT_NE(random_scenario(7).text, random_scenario(8).text);
}

TEST(RandomScenarios, ReachAllSchedulesClustersProfilesAndStagesOfZero) {
    std::set<std::string> schedules, clusters, profiles, models;
    std::set<int> zero_stages;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const scenarios::Scenario s = random_scenario(seed).scenario;
        schedules.insert(s.schedule.name);
        clusters.insert(s.cluster.name);
        profiles.insert(s.framework.name);
        models.insert(s.model.name);
        zero_stages.insert(s.parallel.zero_stage);
    }
    EXPECT_EQ(schedules.size(), generators().size());
    EXPECT_EQ(clusters.size(), text::shipped_names("scenarios/clusters").size());
    EXPECT_GE(profiles.size(), text::shipped_names("scenarios/frameworks").size());
    EXPECT_EQ(zero_stages.size(), 4U);
    EXPECT_GE(models.size(), 40U);
}

TEST(RandomScenarios, HaveWhatIsWished) {
    RandomWish wish;
    wish.experts = wish.pipeline = wish.orders_are_fixed = true;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const RandomScenario drawn = random_scenario(seed, wish);
        SCOPED_TRACE(drawn.text);
        EXPECT_TRUE(drawn.scenario.model.has_experts());
        EXPECT_GT(drawn.scenario.parallel.expert, 1);
        EXPECT_GT(drawn.scenario.parallel.pipeline, 1);
        EXPECT_FALSE(find_generator(drawn.scenario.schedule.name)->uses_costs);
    }
}

}  // namespace
}  // namespace debubble::sim
