#include <cmath>

#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "sim/plan/ordered_plan.h"
#include "sim/plan/priced_plan.h"
#include "sim/predict.h"

/// zb-auto with `mem_b: graph`: a backward-input frees what the tensors of its stage say.
namespace debubble::sim {
namespace {

scenarios::Scenario job(const std::string& mem_b, double limit) {
    scenarios::Scenario scenario = scenarios::read_scenario("gpt2-xl-zb-auto");
    scenario.schedule.memory_limits = {limit};
    if (!mem_b.empty()) scenario.schedule.options["mem_b"] = mem_b;
    return scenario;
}

/// A twentieth of a microbatch is missing for one more of them; that much is freed.
TEST(FreedByGraph, LetsOneMoreWeightPassWait) {
    const Schedule kept = priced_plan(job("", 4.95)).schedule;
    const Schedule freed = priced_plan(job("graph", 4.95)).schedule;
    EXPECT_EQ(kept, priced_plan(job("", 4)).schedule);
    EXPECT_NE(freed, kept);
    EXPECT_EQ(freed, priced_plan(job("graph", 4.95)).schedule);
}

TEST(FreedByGraph, IsWhatTheMemoryModelSays) {
    const scenarios::Scenario scenario = job("", 4.95);
    const PricedPlan plan = priced(ordered_plan(scenario), scenario);
    std::string listed;
    for (int rank = 0; rank < plan.plan.schedule.shape.ranks; ++rank) {
        const auto held = [&](Pass pass) {
            return static_cast<double>(
                plan.memory->compute({pass, Stage{rank}, {}}).held_after.count);
        };
        const double share = held(Pass::BackwardInput) / held(Pass::Forward);
        EXPECT_LT(share, -0.05);
        EXPECT_GT(share, -0.2);
        listed += (rank > 0 ? "," : "") + std::to_string(share);
    }
    EXPECT_EQ(priced_plan(job("graph", 4.95)).schedule, priced_plan(job(listed, 4.95)).schedule);
}

}  // namespace
}  // namespace debubble::sim
