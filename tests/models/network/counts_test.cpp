#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"
#include "tests/models/change_layers.h"

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

/// What a mask leaves out, 12 FLOPs a column and pair in all: of s^2 pairs s (s - 1) / 2 without a
/// window, with one of w all but s w - w (w - 1) / 2, in chunks of c all but s (c + 1) / 2.
TEST(AttendedFlops, LeaveOutThePairsThatMasksDo) {
    const double s = 1024, columns = 768, layers = 3;
    Architecture model = gpt(3, 768, 12);
    const auto left_out = [&] {
        return (model_flops_per_sample(model, 1024) - attended_flops_per_sample(model, 1024)) /
               (12 * columns * layers);
    };
    EXPECT_DOUBLE_EQ(left_out(), s * s - s * (s + 1) / 2);
    change_layers(model, [](LayerKeys& keys) { keys.window = 100; });
    EXPECT_DOUBLE_EQ(left_out(), s * s - (s * 100 - 100 * 99 / 2));
    change_layers(model, [](LayerKeys& keys) {
        keys.window.reset();
        keys.chunk = 256;
    });
    EXPECT_DOUBLE_EQ(left_out(), s * s - s * 257 / 2);
    change_layers(model, [](LayerKeys& keys) { keys.chunk = 300; });
    EXPECT_DOUBLE_EQ(left_out(), s * s - (3 * 300 * 301 / 2 + 124 * 125 / 2));
    model.causal = false;
    EXPECT_EQ(left_out(), 0);
}

/// Half of the pairs, whatever a window leaves; all where nothing is masked.
TEST(CausalFlops, HaveHalfOfTheScores) {
    const double s = 1024, columns = 768, layers = 3;
    Architecture model = gpt(3, 768, 12);
    const auto left_out = [&] {
        return model_flops_per_sample(model, 1024) - causal_flops_per_sample(model, 1024);
    };
    EXPECT_DOUBLE_EQ(left_out(), 12 * columns * layers * s * s / 2);
    change_layers(model, [](LayerKeys& keys) { keys.window = 100; });
    EXPECT_DOUBLE_EQ(left_out(), 12 * columns * layers * s * s / 2);
    model.causal = false;
    EXPECT_EQ(left_out(), 0);
}

/// Of Nemotron 3 Nano's Mamba layers the weights that there are, and the scan of the chunks; of
/// Qwen3-Next's delta nets the chunk rule, and no convolution.
TEST(AttendedFlops, OfRecurrentLayersAreWhatAStageExecutes) {
    for (const char* name : {"nemotron-3-nano-30b-a3b", "qwen3-next-80b-a3b"}) {
        Architecture model = read_model(name);
        change_layers(model, [](LayerKeys& keys) {
            if (keys.mixer != MixerKind::None) keys.mlp = false;
        });
        model.layers = {Layer(model.layers[0]), 1};
        Execution how;
        how.seq_length = 256;
        how.kernels.vocabulary_multiple = 1;
        double forward = 0;
        for (const Kernel& kernel :
             forward_steps(build_stage(model, how, {0, 1, true, true})).kernels)
            forward += flops(kernel);
        EXPECT_NEAR(attended_flops_per_sample(model, 256) / (3 * forward), 1, 1e-12) << name;
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
