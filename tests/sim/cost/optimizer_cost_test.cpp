#include <gtest/gtest.h>

#include "sim/cost/kernels/kernel_cost.h"
#include "tests/sim/physical_models.h"

namespace debubble::sim {
namespace {

TEST(PhysicalCostModel, StepsTheShareOfExpertsThatFewerRanksHave) {
    auto scenario = mixture_job(4, 2);
    const Duration all = price(scenario)->optimizer_step(Rank{0});
    scenario.parallel.zero_stage = 1;
    const Duration shared = price(scenario)->optimizer_step(Rank{0});
    scenario.parallel.expert = 1;  // the same ranks, every expert on four times as many
    const Duration everywhere = price(scenario)->optimizer_step(Rank{0});
    EXPECT_LT(shared, all);
    EXPECT_NEAR(seconds(everywhere) / seconds(shared), 1, 1e-6)
        << "an eighth of all experts, or half of a quarter";
}

TEST(PhysicalCostModel, StepsTheOptimizerOverItsShardOnly) {
    auto scenario = gpt_job(1, 8, 1);
    const auto takes = [&] { return seconds(price(scenario)->optimizer_step(Rank{0})); };
    const double whole = takes();
    scenario.parallel.zero_stage = 1;
    EXPECT_NEAR(takes(), whole / 8, 1e-6);
    scenario.training.offload_optimizer = true;
    EXPECT_GT(takes(), whole / 8);
    const MemoryByClass held = memory_of(scenario)->static_memory(Rank{0});
    EXPECT_EQ(held[static_cast<std::size_t>(MemoryClass::Optimizer)], Bytes{});
}

TEST(PhysicalCostModel, OffloadedStatePassesTheHostLinkOnceEachWay) {
    auto scenario = gpt_job(1, 1, 1);
    scenario.framework.optimizer_fixed = {};
    scenario.training.offload_optimizer = true;
    scenario.framework.offload_buffer = Bytes{48 << 20};
    const std::int64_t layer = 12 * 4096LL * 4096 + 13 * 4096;
    const double state = 12.0 * (24 * layer + (51200 + 2048 + 2) * 4096LL);
    const auto model = price(scenario);
    EXPECT_NEAR(seconds(model->optimizer_step(Rank{0})),
                (state + (16 << 20)) / scenario.cluster.gpu.host_link.value, 1e-6);
    EXPECT_EQ(memory_of(scenario)->optimizer_transient(Rank{0}), Bytes{48 << 20});
    scenario.cluster.gpu.threads = 8;  // whose memory is the host's
    const auto processor = price(scenario);
    EXPECT_EQ(memory_of(scenario)->optimizer_transient(Rank{0}), Bytes{});
    const Duration offloaded = processor->optimizer_step(Rank{0});
    scenario.training.offload_optimizer = false;
    EXPECT_EQ(price(scenario)->optimizer_step(Rank{0}), offloaded);
}

/// Parameters of 2 bytes and 12 of their state, read and written once more.
TEST(PhysicalCostModel, CopiesWhatAPostValidatedStepMayHaveToUndo) {
    auto scenario = gpt_job(1, 1, 1);
    scenario.framework.optimizer_fixed = {};
    scenario.framework.post_validation = scenario.framework.rollback_copies = true;
    scenario.schedule.name = "zb-h1";
    const std::int64_t layer = 12 * 4096LL * 4096 + 13 * 4096;
    const auto parameters = static_cast<double>(24 * layer + (51200 + 2048 + 2) * 4096LL);
    const double bandwidth = effective_memory_bandwidth(scenario.cluster.gpu).value;
    const auto takes = [&] { return seconds(price(scenario, "zb-h1")->optimizer_step(Rank{0})); };
    const double without = takes();  // nothing clips
    scenario.training.run.clip_norm = 1;
    EXPECT_NEAR(takes() - without, parameters * 2 * 14 / bandwidth, 1e-6);
    scenario.schedule.name = "1f1b";  // steps once the norm is known
    EXPECT_EQ(takes(), without);
}

TEST(PhysicalCostModel, HoldsEighteenBytesPerParameterInMixedPrecision) {
    auto scenario = gpt_job(1, 1, 1);
    scenario.framework.library_workspace = {};
    const std::int64_t layer = 12 * 4096LL * 4096 + 13 * 4096;
    const std::int64_t parameters = 24 * layer + (51200 + 2048 + 2) * 4096LL;
    EXPECT_EQ(total(memory_of(scenario)->static_memory(Rank{0})).count, 18 * parameters);
}

TEST(PhysicalCostModel, HoldsNoWorkspaceOfAGpusLibraryOnAProcessor) {
    auto scenario = gpt_job(1, 1, 1);
    const auto held = [&] { return total(memory_of(scenario)->static_memory(Rank{0})); };
    const Bytes without = held();
    scenario.framework.library_workspace = Bytes{32 << 20};
    EXPECT_EQ(held(), without + scenario.framework.library_workspace);
    scenario.cluster.gpu.threads = 8;
    EXPECT_EQ(held(), without);
}

}  // namespace
}  // namespace debubble::sim
