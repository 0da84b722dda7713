#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/cluster/reader.h"
#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::scenarios {
namespace {

using models::DataType;
using models::Recipe;

Scenario on(const std::string& cluster, const std::string& precision,
            const std::string& more = "") {
    return parse_scenario(fmt::format("model: gpt2\ncluster: {}\ngpus: 8\n"
                                      "training: {{precision: {}}}\n{}",
                                      cluster, precision, more),
                          "here.yaml");
}

std::string mistake(const std::string& cluster, const std::string& precision) {
    try {
        on(cluster, precision);
    } catch (const InputError& error) {
        const Diagnostic& first = error.diagnostics().front();
        return fmt::format("{}:{}: {}", first.where.line, first.where.column, first.message);
    }
    return "";
}

TEST(Precision, ARecipeIsAWordOrAKeyOfTheMap) {
    for (const auto& [word, recipe] : std::initializer_list<std::pair<const char*, Recipe>>{
             {"fp8-delayed", Recipe::Fp8Delayed},
             {"fp8-current", Recipe::Fp8Current},
             {"fp8-blockwise", Recipe::Fp8Blockwise},
             {"fp8-rowwise", Recipe::Fp8Rowwise},
             {"mxfp8", Recipe::MxFp8},
             {"nvfp4", Recipe::NvFp4}}) {
        const Precision of_word = on("hgx-b200", word).training.precision;
        EXPECT_EQ(of_word.recipe, recipe);
        EXPECT_EQ(of_word, on("hgx-b200", fmt::format("{{recipe: {}}}", word)).training.precision);
        EXPECT_EQ(of_word.compute, DataType::Bf16);
        EXPECT_EQ(of_word.main_params, DataType::Fp32);
    }
    EXPECT_EQ(on("hgx-b200", "{base: mxfp8, recipe: bf16}").training.precision,
              on("hgx-b200", "bf16").training.precision);
}

TEST(Precision, AMapSaysWhatGathersAndTheOptimizerHave) {
    const Precision p = on("hgx-b200",
                           "{recipe: mxfp8, param_gather: fp8, attention: fp8, grads: bf16, "
                           "moments: fp8, main_grads: none, bf16_layers: {first: 1, last: 2}}")
                            .training.precision;
    EXPECT_EQ(p.param_gather, ParamGather::Fp8);
    EXPECT_TRUE(p.fp8_attention);
    EXPECT_EQ(p.grads, DataType::Bf16);
    EXPECT_EQ(p.moments, DataType::Fp8);
    EXPECT_FALSE(p.main_grads);
    EXPECT_EQ(p.bf16_first, 1);
    EXPECT_EQ(p.bf16_last, 2);
}

TEST(Precision, LayersInBf16AreTheFirstAndTheLastOfTheModel) {
    const Scenario s = on("hgx-b200", "{recipe: mxfp8, bf16_layers: {first: 1, last: 2}}");
    const models::LowPrecision how = execution_of(s).low_precision;
    const int layers = s.model.layers.count();
    for (int layer = 0; layer < layers; ++layer)
        EXPECT_EQ(how.quantises(layer), layer >= 1 && layer < layers - 2) << layer;
    const models::LowPrecision all = execution_of(on("hgx-b200", "mxfp8")).low_precision;
    EXPECT_TRUE(all.quantises(0) && all.quantises(layers - 1));
}

TEST(Precision, ARecipeThatTheDeviceLacksIsRefusedWhereItStands) {
    EXPECT_EQ(mistake("dgx-a100-80gb", "fp8-current"),
              "4:23: fp8-current needs gpu.fp8_flops, which 'NVIDIA A100-SXM4-80GB' does not have");
    EXPECT_EQ(mistake("hgx-h100", "{recipe: mxfp8}"),
              "4:32: mxfp8 needs matrix units with block scaling (Blackwell), which also have "
              "gpu.fp4_flops; 'NVIDIA H100-SXM5-80GB' has none");
    EXPECT_EQ(mistake("hgx-h100", "nvfp4"),
              "4:23: nvfp4 needs gpu.fp4_flops, which 'NVIDIA H100-SXM5-80GB' does not have");
    EXPECT_EQ(
        mistake("dgx-a100-80gb", "{attention: fp8}"),
        "4:35: attention in fp8 needs gpu.fp8_flops, which 'NVIDIA A100-SXM4-80GB' does not have");
}

TEST(Precision, PartsThatDoNotGoTogetherAreRefusedWhereTheyStand) {
    EXPECT_EQ(mistake("hgx-h100", "{param_gather: fp8}"),
              "4:38: no GEMM is in 8 or 4 bits: give a 'recipe'");
    EXPECT_EQ(mistake("hgx-b200", "{recipe: nvfp4, param_gather: fp8}"),
              "4:53: weights of nvfp4 can be gathered in bf16 or fp4");
    EXPECT_EQ(mistake("hgx-b200", "{recipe: mxfp8, param_gather: fp4}"),
              "4:53: weights of mxfp8 can be gathered in bf16 or fp8");
    EXPECT_EQ(mistake("hgx-h100", "{base: fp16, recipe: fp8-current}"),
              "4:44: fp8-current needs 'compute: bf16'");
    EXPECT_EQ(mistake("hgx-h100", "{recipe: fp8-current, bf16_layers: {first: 10, last: 3}}"),
              "4:58: 10 first and 3 last layers exceed the 12");
    EXPECT_EQ(mistake("hgx-h100", "fp8-curent"),
              "4:23: unknown precision 'fp8-curent'; did you mean 'fp8-current'?");
}

TEST(Precision, ActivationsAreKeptIn8BitsByBlocksAlone) {
    const Scenario s = on("hgx-h100", "{recipe: fp8-blockwise, activations: fp8}");
    EXPECT_TRUE(execution_of(s).low_precision.narrow_activations);
    EXPECT_FALSE(execution_of(on("hgx-h100", "fp8-blockwise")).low_precision.narrow_activations);
    EXPECT_EQ(mistake("hgx-h100", "{recipe: fp8-current, activations: fp8}"),
              "4:58: activations are kept in 8 bits with a scale per block: 'recipe' must be "
              "fp8-blockwise, not fp8-current");
    EXPECT_EQ(mistake("hgx-h100", "{activations: fp8}"),
              "4:37: activations are kept in 8 bits with a scale per block: 'recipe' must be "
              "fp8-blockwise, not bf16");
}

TEST(Precision, OnlyUnitsThatScaleBlocksTakeOperandsAsTheyLie) {
    EXPECT_TRUE(execution_of(on("hgx-h100", "fp8-current")).low_precision.transposes);
    EXPECT_FALSE(execution_of(on("hgx-b200", "fp8-current")).low_precision.transposes);
}

TEST(Precision, MomentsNarrowerThanTheMainParametersKeepTheirRemainders) {
    EXPECT_FALSE(on("hgx-b200", "bf16").training.precision.keeps_remainders());
    EXPECT_TRUE(on("hgx-b200", "{moments: bf16}").training.precision.keeps_remainders());
    EXPECT_FALSE(
        on("hgx-b200", "{recipe: mxfp8, moments: bf16}").training.precision.keeps_remainders());
    EXPECT_FALSE(on("hgx-b200", "pure-bf16").training.precision.keeps_remainders());
}

TEST(AttentionKernel, IsTransformerEnginesChoiceUnlessTheFrameworkNamesOne) {
    using models::FusedAttention;
    const auto of = [](const char* cluster, const char* framework) {
        return execution_of(on(cluster, "bf16", framework)).kernels.attention_kernel;
    };
    EXPECT_EQ(of("hgx-h100", ""), FusedAttention::Cudnn2024) << "megatron-2024";
    EXPECT_EQ(of("hgx-h100", "framework: megatron-2026"), FusedAttention::Cudnn);
    EXPECT_EQ(of("dgx-a100-80gb", ""), FusedAttention::Flash2);
    EXPECT_EQ(of("hgx-h100", "framework: {base: megatron-2024, attention_kernel: flash-3}"),
              FusedAttention::Flash3);
}

TEST(AttentionKernel, UnfusedIsTheTrainingsUnlessThatSaysOtherwise) {
    const char* const unfused = "framework: {base: megatron-2024, attention_kernel: unfused}";
    EXPECT_EQ(on("hgx-h100", "bf16", unfused).training.attention, models::AttentionKernel::Unfused);
    EXPECT_EQ(on("hgx-h100", "bf16, attention: flash", unfused).training.attention,
              models::AttentionKernel::Flash);
}

/// NVL72: 18 trays of 4. Slurm's segment is the greatest divisor of the number of trays.
TEST(Trays, FillDomainsEqually) {
    const auto nodes = [](int gpus) {
        const Cluster cluster =
            parse_scenario(fmt::format("model: gpt2\ncluster: nvl72-gb200\ngpus: {}\n", gpus),
                           "here.yaml")
                .cluster;
        return std::pair(cluster.nodes, cluster.gpus_per_node);
    };
    EXPECT_EQ(nodes(8), std::pair(1, 72));
    EXPECT_EQ(nodes(64), std::pair(1, 72));
    EXPECT_EQ(nodes(72), std::pair(1, 72));
    EXPECT_EQ(nodes(128), std::pair(2, 64));
    EXPECT_EQ(nodes(256), std::pair(4, 64));
    EXPECT_EQ(nodes(576), std::pair(8, 72));
    EXPECT_EQ(nodes(2304), std::pair(32, 72));
}

TEST(Trays, BringAnAdapterForEachGpu) {
    for (const int gpus : {64, 128, 256, 2304}) {
        const Cluster cluster =
            parse_scenario(fmt::format("model: gpt2\ncluster: nvl72-gb300\ngpus: {}\n", gpus),
                           "here.yaml")
                .cluster;
        EXPECT_EQ(cluster.network.nics_per_node, cluster.gpus_per_node) << gpus;
    }
}

}  // namespace
}  // namespace debubble::scenarios
