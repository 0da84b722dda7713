#include "models/memory/static_memory.h"

#include <gtest/gtest.h>

#include "tests/models/architectures.h"

namespace debubble::models {
namespace {

StageGraph stage(DataType compute, DataType gradients) {
    Execution how;
    how.seq_length = 64;
    how.compute = compute;
    how.gradients = gradients;
    how.kernels.vocabulary_multiple = 1;
    return build_stage(gpt(4, 256, 8), how, {0, 4, true, true});
}

double bytes_per_parameter(const StageGraph& graph, const StaticPolicy& policy) {
    return static_cast<double>(total(static_memory(graph, policy).held).count) /
           static_cast<double>(graph.parameter_elements());
}

TEST(StaticMemory, PerParameterIsWhatThePapersSay) {
    const StageGraph mixed = stage(DataType::Bf16, DataType::Fp32);
    StaticPolicy policy;
    EXPECT_DOUBLE_EQ(bytes_per_parameter(mixed, policy), 18);
    policy.shards = 8;
    for (const auto& [zero, expected] : std::initializer_list<std::pair<int, double>>{
             {0, 18}, {1, 6 + 12.0 / 8}, {2, 2 + 16.0 / 8}, {3, 18.0 / 8}}) {
        policy.zero_stage = zero;
        EXPECT_NEAR(bytes_per_parameter(mixed, policy), expected, 1e-5) << zero;
    }
    StaticPolicy pure;
    pure.main_parameters.reset();
    pure.moments = DataType::Bf16;
    EXPECT_DOUBLE_EQ(bytes_per_parameter(stage(DataType::Bf16, DataType::Bf16), pure), 8);
    EXPECT_DOUBLE_EQ(bytes_per_parameter(stage(DataType::Fp32, DataType::Fp32), {}), 16);
}

TEST(StaticMemory, HoldsAsManyMomentsAsTheOptimizerKeeps) {
    StaticPolicy policy;
    for (const auto& [moments, expected] :
         std::initializer_list<std::pair<int, double>>{{0, 10}, {1, 14}, {2, 18}}) {
        policy.moment_count = moments;
        EXPECT_DOUBLE_EQ(bytes_per_parameter(stage(DataType::Bf16, DataType::Fp32), policy),
                         expected);
    }
}

TEST(StaticMemory, HoldsNoMomentsBeforeTheFirstStep) {
    const StageGraph graph = stage(DataType::Bf16, DataType::Fp32);
    StaticPolicy policy;
    policy.moments_exist = false;
    EXPECT_DOUBLE_EQ(bytes_per_parameter(graph, policy), 10);
}

/// TransformerEngine's FusedAdam steps on fp32 copies of both moments; Megatron-LM has an optimizer
/// for the experts and one for everything else, which step one after the other.
TEST(StaticMemory, HoldsMomentsOfAnotherTypeTwiceWhileTheyAreStepped) {
    const StageGraph graph = stage(DataType::Bf16, DataType::Bf16);
    ParameterCount count;
    count.dense = 1000;
    count.expert = 6000;
    StaticPolicy policy;
    policy.moments = DataType::Bf16;
    EXPECT_EQ(static_memory(graph, policy, count).optimizer_step, Bytes{});
    policy.widens_moments = true;
    EXPECT_EQ(static_memory(graph, policy, count).optimizer_step, Bytes{2 * 4 * 6000});
    policy.zero_stage = 1;
    policy.shards = 4;
    policy.expert_shards = 12;
    EXPECT_EQ(static_memory(graph, policy, count).optimizer_step, Bytes{2 * 4 * 500});
    policy.moments = DataType::Fp32;
    EXPECT_EQ(static_memory(graph, policy, count).optimizer_step, Bytes{});
}

TEST(StaticMemory, HoldsWholeGradientsOfShardsWhereTheyAreSummedWhole) {
    const StageGraph graph = stage(DataType::Bf16, DataType::Fp32);
    StaticPolicy policy;
    policy.zero_stage = 2;
    policy.shards = 8;
    policy.gradient_buffer = false;
    policy.whole_gradients = true;
    EXPECT_EQ(static_memory(graph, policy).gradients_in_backward,
              Bytes{4 * graph.parameter_elements()});
}

TEST(StaticMemory, HoldsOfOffloadedStateWhatPassesWhileItIsStepped) {
    const StageGraph graph = stage(DataType::Bf16, DataType::Fp32);
    StaticPolicy policy;
    policy.state_on_host = true;
    EXPECT_DOUBLE_EQ(bytes_per_parameter(graph, policy), 6);
    EXPECT_EQ(static_memory(graph, policy).optimizer_step, Bytes{});
    policy.offload_buffer = Bytes{1 << 20};
    EXPECT_EQ(static_memory(graph, policy).optimizer_step, Bytes{1 << 20});
    policy.offload_buffer = Bytes{std::int64_t{1} << 40};
    EXPECT_EQ(static_memory(graph, policy).optimizer_step, Bytes{12 * graph.parameter_elements()});
    EXPECT_EQ(optimizer_state_width(policy, DataType::Fp32), 8) << "no main copy beside fp32";
}

TEST(StaticMemory, HoldsWhatAStepMayHaveToUndo) {
    const StageGraph graph = stage(DataType::Bf16, DataType::Fp32);
    const std::int64_t parameters = graph.parameter_elements();
    StaticPolicy policy;
    policy.step_copies = true;  // parameters, main parameters and two moments
    EXPECT_EQ(static_memory(graph, policy).optimizer_step, Bytes{(2 + 12) * parameters});
    policy.shards = 2;
    policy.zero_stage = 1;
    EXPECT_EQ(static_memory(graph, policy).optimizer_step,
              Bytes{(2 + 12) * ((parameters + 1) / 2)});
    policy.state_on_host = true;  // as are its copies
    policy.offload_buffer = Bytes{100};
    EXPECT_EQ(static_memory(graph, policy).optimizer_step, Bytes{2 * ((parameters + 1) / 2) + 100});
}

TEST(StaticMemory, OfTheLastStageHoldsACopyOfATiedEmbedding) {
    Execution how;
    how.seq_length = 64;
    how.tensor = 2;
    const Architecture model = gpt(4, 256, 8);
    const std::int64_t padded = (50257 + 255) / 256 * 256 / 2 * 256;
    const auto elements = [&](bool embedding, bool head) {
        return build_stage(model, how, {0, 2, embedding, head}).parameter_elements();
    };
    EXPECT_EQ(elements(false, true) - elements(false, false), padded + 2 * 256);
    EXPECT_EQ(elements(true, false) - elements(false, false), padded + 1024 * 256);
    EXPECT_EQ(elements(true, true) - elements(true, false), 2 * 256);
}

TEST(StaticMemory, CountsOneDummyWeightGradientPerShape) {
    Execution how;
    how.seq_length = 64;
    how.kernels.dummy_weight_gradients = true;
    const StageGraph graph = build_stage(gpt(4, 256, 8), how, {0, 4, false, false});
    const MemoryByClass held = static_memory(graph, {}).held;
    EXPECT_EQ(held[static_cast<std::size_t>(MemoryClass::Buffers)],
              Bytes{2 * 256 * (768 + 256 + 1024 + 1024)});
}

}  // namespace
}  // namespace debubble::models
