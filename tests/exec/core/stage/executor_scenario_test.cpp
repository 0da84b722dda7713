#include "exec/core/stage/operators/executor_scenario.h"

#include <gtest/gtest.h>

#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "scenarios/software/reader.h"

namespace debubble::exec {
namespace {

scenarios::Scenario with_framework(const std::string& framework) {
    return scenarios::parse_scenario(
        "{model: gpt2, cluster: dgx-a100-40gb, framework: " + framework + "}", "here.yaml");
}

TEST(AsExecuted, IsTheProfileDebubbleAsItIsShipped) {
    const scenarios::Scenario own = with_framework("debubble");
    EXPECT_EQ(executor_scenario(own).framework, own.framework);
    EXPECT_EQ(own.framework, scenarios::shipped_framework("debubble"));
}

TEST(AsExecuted, IsThatProfileWhateverFrameworkTheScenarioNames) {
    for (const char* other : {"megatron-2021", "megatron-2026", "pytorch-eager"}) {
        const scenarios::Scenario asked = with_framework(other);
        scenarios::Framework expected = scenarios::shipped_framework("debubble");
        expected.kernels.vocabulary_multiple = asked.framework.kernels.vocabulary_multiple;
        EXPECT_EQ(executor_scenario(asked).framework, expected) << other;
    }
}

/// Its gathers are a layer ahead of the one that computes, as without any limit.
TEST(AsExecuted, GathersWithinNoLimitsOfDeepspeed) {
    const scenarios::Scenario asked = scenarios::parse_scenario(
        "{model: gpt2, cluster: dgx-a100-40gb, parallel: {zero_stage: 3}, "
        "framework: {base: deepspeed, grad_reduce_dtype: fp32}}",
        "here.yaml");
    EXPECT_TRUE(scenarios::gather_limits(asked));
    EXPECT_FALSE(scenarios::gather_limits(executor_scenario(asked)));
    EXPECT_FALSE(unsupported(asked));
}

TEST(AsExecuted, LeavesTheScenarioWhatItMayChoose) {
    const scenarios::Framework chosen =
        executor_scenario(
            with_framework("{base: megatron-2024, loss: chunked, offload_buffer: 1 MiB, "
                           "post_validation: true, "
                           "vocabulary_multiple: 3}"))
            .framework;
    EXPECT_EQ(chosen.kernels.loss, models::LossKernel::Chunked);
    EXPECT_EQ(chosen.offload_buffer, Bytes{1 << 20});
    EXPECT_TRUE(chosen.post_validation);
    EXPECT_EQ(chosen.kernels.vocabulary_multiple, 3);
    EXPECT_EQ(chosen.allocator, scenarios::AllocatorModel::Arena);
}

}  // namespace
}  // namespace debubble::exec
