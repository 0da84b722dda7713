#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/graph/graph.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

/// Low-rank adapters (LoRA, arXiv:2106.09685): only they have gradients and optimizer state.
namespace debubble::sim {
namespace {

Prediction predicted(const std::string& lora) {
    const auto scenario = scenarios::parse_scenario(
        "{model: llama3.1-8b, cluster: hgx-h100, nodes: 1, parallel: {tensor: 1, data: 8}, "
        "schedule: "
        "1f1b, training: {global_batch: 32, micro_batch: 1, seq_length: 4096, precision: bf16, "
        "attention: flash, recompute: full" +
            lora + "}, framework: megatron-2024}",
        "plan.yaml");
    PredictOptions options;
    options.keep_trace = false;
    options.play_allocator = false;
    return predict(scenario, options).prediction;
}

std::int64_t bytes_of(const Prediction& p, MemoryClass memory_class) {
    return p.ranks.front().memory[static_cast<std::size_t>(memory_class)].count;
}

/// Of 32 layers, each product of 4096 by 4096 + 2 x 1024 columns has 8 x (4096 + 6144) elements of
/// adapters.
constexpr std::int64_t kAdapters = 32 * 8 * (4096 + 6144);
constexpr std::int64_t kFrozen = 8'030'261'248;

TEST(Lora, HasGradientsAndOptimizerStateOfItsAdaptersAlone) {
    const Prediction p = predicted(", lora: {rank: 8}");
    EXPECT_EQ(bytes_of(p, MemoryClass::Parameters), 2 * (kFrozen + kAdapters));
    EXPECT_EQ(bytes_of(p, MemoryClass::Gradients), 4 * kAdapters);
    EXPECT_EQ(bytes_of(p, MemoryClass::Optimizer), 12 * kAdapters);
}

TEST(Lora, SavesTheWeightGradientsAndPaysForEachAdapter) {
    const double whole = predicted("").step_time_s;
    const double attention = predicted(", lora: {rank: 8}").step_time_s;
    const double all =
        predicted(", lora: {rank: 8, targets: [linear_qkv, linear_proj, linear_fc1, linear_fc2]}")
            .step_time_s;
    EXPECT_LT(attention, 0.9 * whole) << "a quarter of the products are weight gradients";
    EXPECT_GT(attention, 0.6 * whole);
    EXPECT_GT(all, attention);
}

TEST(Lora, WithoutARankIsALocatedMistake) {
    try {
        predicted(", lora: {targets: [linear_qkv]}");
        FAIL() << "it was read";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("plan.yaml:1:"));
        EXPECT_THAT(error.what(), testing::HasSubstr("rank"));
    }
}

}  // namespace
}  // namespace debubble::sim
