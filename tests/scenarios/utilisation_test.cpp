#include "scenarios/plan/derived.h"

#include <string>

#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"

/// What NVIDIA prints as the MFU of its recipes (dgxc-benchmarking, the pages named at each test)
/// says which FLOPs and which peak it counts.
namespace debubble::scenarios {
namespace {

Scenario of_recipe(const std::string& model, const std::string& training,
                   const std::string& cluster = "hgx-h100") {
    return parse_scenario("model: " + model + "\ncluster: " + cluster +
                              "\ngpus: 8\nparallel: {tensor: 8, sequence: true}\ntraining: {" +
                              training + "}\n",
                          "recipe.yaml");
}

double flops_per_token(const Scenario& scenario) {
    return model_flops_per_step(scenario) /
           static_cast<double>(scenario.training.global_batch * scenario.training.seq_length);
}

/// llama3.1/README_405b.md at v24.11.1, 576 H100: 318.861 tokens a second and GPU are 42.71 %.
TEST(Utilisation, OfFp8IsOfTheRateOfFp8) {
    const Scenario fp8 = of_recipe("{base: llama3.1-405b, kv_heads: 16}",
                                   "global_batch: 1, seq_length: 8192, precision: fp8-delayed");
    const double mfu = 318.861 * flops_per_token(fp8) / *peak_flops_per_s(fp8);
    EXPECT_NEAR(mfu, 0.4271, 0.005);
}

TEST(Utilisation, HasThePeakOfTheProductsType) {
    const std::string batch = "global_batch: 1, seq_length: 8192, precision: ";
    const Scenario bf16 = of_recipe("llama3.1-8b", batch + "bf16", "nvl72-gb300");
    const Scenario mxfp8 = of_recipe("llama3.1-8b", batch + "mxfp8", "nvl72-gb300");
    const Scenario nvfp4 = of_recipe("llama3.1-8b", batch + "nvfp4", "nvl72-gb300");
    EXPECT_EQ(*peak_flops_per_s(bf16), bf16.cluster.gpu.fp16_flops_per_s);
    EXPECT_EQ(*peak_flops_per_s(mxfp8), bf16.cluster.gpu.fp8_flops_per_s);
    EXPECT_EQ(*peak_flops_per_s(nvfp4), bf16.cluster.gpu.fp4_flops_per_s);
    EXPECT_LT(*peak_flops_per_s(bf16), *peak_flops_per_s(mxfp8));
    EXPECT_LT(*peak_flops_per_s(mxfp8), *peak_flops_per_s(nvfp4));
}

/// llama3/finetuning/README_8b.md, LoRA: 17,808.6 tokens a second and GPU are 53.9 % of bf16's
/// rate. Its count has no attention.
TEST(Utilisation, OfAdaptersLeavesOutTheGradientsOfFrozenWeights) {
    const std::string batch = "global_batch: 1, seq_length: 4096, precision: bf16";
    const Scenario lora = of_recipe("llama3.1-8b", batch + ", lora: {rank: 8}");
    const Scenario whole = of_recipe("llama3.1-8b", batch);
    const double attention = 12.0 * 32 * 4096 * 4096;
    const double products = flops_per_token(lora) - attention;
    EXPECT_NEAR(17808.6 * products / *peak_flops_per_s(lora), 0.539, 0.005);
    EXPECT_NEAR(products / (flops_per_token(whole) - attention), 2.0 / 3, 1e-12);
    EXPECT_LT(attended_share(lora), attended_share(whole)) << "attention is more of it";
}

/// What runs again runs forward, adapters or not.
TEST(Utilisation, RecomputesAsManyFlopsBesideAdapters) {
    const std::string batch = "global_batch: 1, seq_length: 4096, recompute: full";
    const Scenario lora = of_recipe("llama3.1-8b", batch + ", lora: {rank: 8}");
    const Scenario whole = of_recipe("llama3.1-8b", batch);
    EXPECT_NEAR(recomputed_share(lora) * model_flops_per_step(lora),
                recomputed_share(whole) * model_flops_per_step(whole),
                1e-9 * model_flops_per_step(whole));
}

}  // namespace
}  // namespace debubble::scenarios
