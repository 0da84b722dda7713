#include "scenarios/plan/plan.h"

#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "schedule/lower.h"

namespace debubble::scenarios {
namespace {

Plan plan_with(const std::string& key, const std::string& value) {
    return make_plan(
        parse_scenario("model: gpt2-xl\n"
                       "cluster: dgx-a100-80gb\n"
                       "gpus: 16\n"
                       "parallel: {tensor: 1, pipeline: 4, data: auto}\n"
                       "schedule: 1f1b\n"
                       "training: {global_batch: 64, micro_batch: 1, seq_length: 1024}\n",
                       "plan.yaml", {{key, value}}));
}

TEST(Lowered, IsSharedByPlansThatDifferInWhatTheirPassesCost) {
    const Plan plain = plan_with("training.recompute", "none");
    const Plan again = plan_with("training.seq_length", "512");
    EXPECT_EQ(plain.lowered, again.lowered);
    EXPECT_EQ(plain.program, lower(plain.schedule, plain.lowering));
}

TEST(Lowered, IsAnothersWhereTheOrderOrItsMessagesDiffer) {
    const Plan plain = plan_with("training.recompute", "none");
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, std::string>>{{"schedule", "gpipe"},
                                                          {"training.global_batch", "128"},
                                                          {"parallel.pipeline", "8"},
                                                          {"parallel.zero_stage", "2"}}) {
        const Plan other = plan_with(key, value);
        EXPECT_NE(plain.lowered, other.lowered) << key;
        EXPECT_NE(plain.lowered->hash(), other.lowered->hash()) << key;
        EXPECT_EQ(other.program, lower(other.schedule, other.lowering)) << key;
    }
}

TEST(Lowered, HasTheHashOfItsProgram) {
    const Plan plan = plan_with("training.recompute", "none");
    EXPECT_EQ(plan.lowered->hash(), program_hash(plan.program));
}

TEST(Lowered, IsNotThereForALargeProgramWhichNobodyWouldShare) {
    const Plan large = plan_with("training.global_batch", "8192");
    EXPECT_EQ(large.lowered, nullptr);
    EXPECT_EQ(large.program, lower(large.schedule, large.lowering));
}

}  // namespace
}  // namespace debubble::scenarios
