#include <gtest/gtest.h>

#include "models/graph.h"
#include "tests/models/architectures.h"

namespace debubble::models {
namespace {

TEST(ParameterCount, IsThePublishedNumber) {
    EXPECT_EQ(parameter_count(gpt(12, 768, 12)), 124'439'808);            // GPT-2
    EXPECT_EQ(parameter_count(gpt(48, 1600, 25)), 1'557'611'200);         // GPT-2 XL
    EXPECT_EQ(parameter_count(gpt(48, 1600, 32, 50304)), 1'557'686'400);  // Colossal-AI's
    EXPECT_EQ(parameter_count(llama(32, 4096, 32, 32, 11008, 32000)), 6'738'415'616);  // 2 7B
    EXPECT_EQ(parameter_count(llama(32, 4096, 32, 8, 14336, 128256)), 8'030'261'248);  // 3 8B
    EXPECT_EQ(parameter_count(vit_base(1000)), 86'567'656);
    EXPECT_EQ(parameter_count(llama(48, 4096, 32, 32, 6144, 50257)), 7'257'206'784);
    EXPECT_EQ(parameter_count(llama(16, 1024, 8, 8, 1536, 50257)), 245'566'464);
}

/// Narayanan et al. 2021, equation 2: 96 B s l h^2 (1 + s/6h + V/16lh) with recompute,
/// of which 72 are model FLOPs; the vocabulary term has no recompute.
TEST(ModelFlops, AgreeWithTheClosedFormOfNarayanan) {
    for (const int layers : {2, 24, 96}) {
        const double h = 2304, s = 2048, V = 51200;
        const double expected = 72 * s * layers * h * h * (1 + s / (6 * h)) + 6 * s * h * V;
        const Architecture model = gpt(layers, 2304, 24, 51200, 2048);
        EXPECT_NEAR(model_flops_per_sample(model, 2048) / expected, 1, 1e-12);
    }
}

double executed_flops(const PassSteps& pass) {
    double sum = 0;
    for (const Kernel& kernel : pass.kernels) sum += flops(kernel);
    return sum;
}

TEST(ModelFlops, AreWhatAnUnfusedStageExecutesOverAllRanks) {
    for (const Architecture& model : {gpt(3, 768, 12, 50304), llama(2, 512, 8, 4, 1536, 32000)}) {
        for (const int tensor : {1, 2, 4}) {
            Execution how;
            how.micro_batch = 2;
            how.seq_length = 256;
            how.tensor = tensor;
            how.kernels.vocabulary_multiple = 1;
            how.attention = AttentionKernel::Unfused;
            const StageGraph stage = build_stage(model, how, {0, model.layers.count(), true, true});
            const double expected = 2 * model_flops_per_sample(model, 256);
            const double forward = executed_flops(forward_steps(stage));
            EXPECT_NEAR(tensor * forward / expected, 1.0 / 3, 1e-12);
            EXPECT_NEAR(tensor * executed_flops(backward_steps(stage)) / expected, 2.0 / 3, 1e-12);
            EXPECT_NEAR(tensor *
                            (executed_flops(backward_input_steps(stage)) +
                             executed_flops(backward_weight_steps(stage))) /
                            expected,
                        2.0 / 3, 1e-12);
        }
    }
}

}  // namespace
}  // namespace debubble::models
