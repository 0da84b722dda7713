#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/graph/operator_runs.h"
#include "scenarios/cluster/reader.h"
#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "sim/cost/kernels/kernel_cost.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/cost/stage_price.h"
#include "sim/plan/plan_bound.h"
#include "sim/predict.h"

namespace debubble::sim {
namespace {

using models::FlashAttention;
using models::FusedAttention;
using models::Gemm;
using models::Narrow;
using models::Traffic;

scenarios::Gpu gpu(const char* cluster) {
    return scenarios::read_cluster(cluster).gpu;
}

/// The same, as single kernels find it.
scenarios::Gpu cool(const char* cluster) {
    scenarios::Gpu one = gpu(cluster);
    one.sustained_clock = 1;
    return one;
}

double tflops(const Gemm& gemm, const scenarios::Gpu& on) {
    return 2e-12 * static_cast<double>(gemm.m * gemm.n * gemm.k) / seconds(kernel_time(gemm, on));
}

Gemm product(std::int64_t m, std::int64_t n, std::int64_t k, Narrow operands) {
    return {1, m, n, k, {}, 2, operands};
}

TEST(LowPrecisionCost, LargeProductsAreTheFasterTheNarrowerTheyAre) {
    for (const char* cluster :
         {"hgx-h100", "hgx-h200", "hgx-h800", "hgx-b200", "hgx-b300", "nvl72-gb200", "nvl72-gb300"})
        for (const std::int64_t m : {4096, 8192, 16384})
            for (const std::int64_t n : {4096, 12288, 28672})
                for (const std::int64_t k : {4096, 16384}) {
                    const auto time = [&](Narrow operands) {
                        return kernel_time(product(m, n, k, operands), gpu(cluster));
                    };
                    EXPECT_LT(time(Narrow::Fp8), time(Narrow::None)) << cluster;
                    EXPECT_LE(time(Narrow::Fp8), time(Narrow::Fp8Blockwise)) << cluster;
                    if (gpu(cluster).fp4_flops_per_s > 0) {
                        EXPECT_LT(time(Narrow::MxFp8), time(Narrow::None)) << cluster;
                        EXPECT_LT(time(Narrow::NvFp4), time(Narrow::MxFp8)) << cluster;
                    }
                }
}

/// ai-dynamo/aiconfigurator, systems/data: products of 8192 x 8192 x 8192 in bf16, in TFLOP/s. The
/// constants are of thousands of shapes, whose times they give within 8 % in the mean.
TEST(LowPrecisionCost, OfSingleProductsIsWhatWasMeasured) {
    for (const auto& [cluster, measured] :
         std::initializer_list<std::pair<const char*, double>>{{"hgx-h100", 783},
                                                               {"hgx-h200", 806},
                                                               {"hgx-b200", 1492},
                                                               {"hgx-b300", 1598},
                                                               {"nvl72-gb300", 1868}})
        EXPECT_NEAR(tflops(product(8192, 8192, 8192, Narrow::None), cool(cluster)) / measured, 1,
                    0.1)
            << cluster;
}

/// The three products of each linear of a layer, hidden 4096, FFN 16384, 15,872 tokens, and the
/// casts of its inputs and gradients.
struct LayerTime {
    double products = 0;
    double casts = 0;
    double all() const { return products + casts; }
};
LayerTime layer_time(const char* cluster, const char* precision) {
    const scenarios::Scenario scenario = scenarios::parse_scenario(
        fmt::format("model: {{base: gpt-7.5b, layers: 1, max_positions: 15872}}\n"
                    "cluster: {}\ngpus: 1\ntraining: {{precision: {}, seq_length: 15872}}\n",
                    cluster, precision),
        "layer.yaml");
    const models::StageGraph graph = models::build_stage(
        scenario.model, scenarios::execution_of(scenario), {0, 1, false, false});
    LayerTime time;
    for (const auto& pass : {models::forward_steps(graph), models::backward_steps(graph)})
        for (const models::Kernel& kernel : pass.kernels) {
            if (const auto* gemm = std::get_if<Gemm>(&kernel.work))
                time.products += seconds(kernel_time(*gemm, scenario.cluster.gpu));
            if (const auto* cast = std::get_if<Traffic>(&kernel.work);
                cast != nullptr && cast->pace > 1)
                time.casts += seconds(kernel_time(*cast, scenario.cluster.gpu));
        }
    return time;
}

/// TransformerEngine d0067d0, docs/examples/gemm_profiling, B300, in ms without casts and with.
TEST(LowPrecisionCost, OfALayersProductsIsNearTransformerEnginesOnB300) {
    EXPECT_NEAR(layer_time("hgx-b300", "bf16").products, 12.76e-3, 0.05 * 12.76e-3);
    const LayerTime current = layer_time("hgx-b300", "fp8-current");
    EXPECT_NEAR(current.products, 6.81e-3, 0.05 * 6.81e-3);
    EXPECT_NEAR(current.all(), 9.15e-3, 0.12 * 9.15e-3);
    EXPECT_NEAR(layer_time("hgx-b300", "fp8-delayed").all(), 7.80e-3, 0.08 * 7.80e-3);
    const LayerTime mx = layer_time("hgx-b300", "mxfp8");
    EXPECT_NEAR(mx.products, 7.16e-3, 0.05 * 7.16e-3);
    EXPECT_NEAR(mx.all(), 8.98e-3, 0.08 * 8.98e-3);
    const LayerTime nv = layer_time("hgx-b300", "nvfp4");
    EXPECT_NEAR(nv.products, 3.76e-3, 0.05 * 3.76e-3);
    EXPECT_NEAR(nv.all(), 6.45e-3, 0.12 * 6.45e-3);
}

FlashAttention causal(std::int64_t tokens, bool backward) {
    FlashAttention attention;
    attention.batch = 32768 / tokens;
    attention.heads = 64;
    attention.kv_heads = 8;
    attention.queries = attention.keys = tokens;
    attention.head_dim = 128;
    attention.backward = backward;
    attention.kernel = FusedAttention::Cudnn;
    return attention;
}

/// NVIDIA/cudnn-frontend, benchmark results: cuDNN 9.19 on H200, 9.22 on GB200 and GB300.
TEST(AttentionCost, IsCudnnsByTheLengthOfTheSequence) {
    struct Row {
        const char* cluster;
        std::int64_t tokens;
        bool backward;
        double tflops;
    };
    for (const Row& row : {Row{"hgx-h200", 4096, false, 591},
                           {"hgx-h200", 8192, true, 541},
                           {"hgx-h200", 32768, false, 688},
                           {"nvl72-gb200", 8192, false, 1574},
                           {"nvl72-gb200", 8192, true, 1332},
                           {"nvl72-gb300", 16384, true, 1507}}) {
        FlashAttention attention = causal(row.tokens, row.backward);
        const scenarios::Gpu on = cool(row.cluster);
        const double flops = models::flops({"", {}, attention});
        EXPECT_NEAR(flops / seconds(kernel_time(attention, on)) / 1e12, row.tflops,
                    0.02 * row.tflops)
            << row.cluster;
    }
}

TEST(AttentionCost, BetweenTwoLengthsLiesBetweenTheirRates) {
    const scenarios::Gpu on = cool("hgx-h200");
    const auto rate = [&](std::int64_t tokens) {
        const FlashAttention attention = causal(tokens, false);
        return models::flops({"", {}, attention}) / seconds(kernel_time(attention, on));
    };
    EXPECT_LT(rate(4096), rate(6144));
    EXPECT_LT(rate(6144), rate(8192));
}

TEST(AttentionCost, OfOlderKernelsIsHigher) {
    for (const char* cluster : {"dgx-a100-80gb", "hgx-h100", "hgx-b200"}) {
        const auto time = [&](FusedAttention kernel, bool backward) {
            FlashAttention attention = causal(8192, backward);
            attention.kernel = kernel;
            return kernel_time(attention, gpu(cluster));
        };
        for (const bool backward : {false, true}) {
            EXPECT_LT(time(FusedAttention::Flash2, backward),
                      time(FusedAttention::Flash1, backward));
            EXPECT_LE(time(FusedAttention::Cudnn, backward),
                      time(FusedAttention::Flash2, backward));
        }
    }
}

constexpr const char* kPrecisions[] = {
    "bf16",
    "fp8-delayed",
    "{recipe: fp8-current, param_gather: fp8, grads: bf16}",
    "fp8-blockwise",
    "{recipe: mxfp8, param_gather: fp8, moments: bf16, main_grads: none}",
    "{recipe: nvfp4, param_gather: fp4, bf16_layers: {first: 1, last: 3}}",
    "{recipe: mxfp8, attention: fp8}"};

scenarios::Scenario job(const char* precision, int tensor, int pipeline, int zero_stage) {
    return scenarios::parse_scenario(
        fmt::format("model: {{base: llama3-8b, layers: 16}}\ncluster: nvl72-gb200\ngpus: 16\n"
                    "parallel: {{tensor: {}, pipeline: {}, sequence: {}, zero_stage: {}}}\n"
                    "training: {{global_batch: 64, precision: {}, seq_length: 4096}}\n",
                    tensor, pipeline, tensor > 1, zero_stage, precision),
        "job.yaml");
}

TEST(LowPrecisionBound, IsNeverAboveThePrediction) {
    for (const char* precision : kPrecisions)
        for (const int tensor : {1, 4})
            for (const int pipeline : {1, 4})
                for (const int zero_stage : {0, 1, 3}) {
                    SCOPED_TRACE(fmt::format("{} tensor {} pipeline {} ZeRO-{}", precision, tensor,
                                             pipeline, zero_stage));
                    const scenarios::Scenario scenario =
                        job(precision, tensor, pipeline, zero_stage);
                    const Prediction predicted = predict(scenario).prediction;
                    const PlanBound bound = bound_of(scenario);
                    EXPECT_LE(bound.step_time_s, predicted.step_time_s * (1 + 1e-9));
                    Bytes worst;
                    for (const RankPrediction& rank : predicted.ranks)
                        worst = std::max(worst, rank.peak_memory);
                    EXPECT_LE(bound.memory, worst);
                }
}

/// A stage whose inner layers are folded costs and holds what the unfolded one does, with layers
/// in bf16 at either end.
TEST(LowPrecisionFold, KeepsTheEndsInBf16Apart) {
    const auto with = [](int first, int last) {
        return job(
            fmt::format("{{recipe: mxfp8, bf16_layers: {{first: {}, last: {}}}}}", first, last)
                .c_str(),
            1, 1, 0);
    };
    for (const auto& [first, last] :
         std::initializer_list<std::pair<int, int>>{{0, 0}, {1, 1}, {2, 5}, {12, 1}, {16, 0}}) {
        const scenarios::Scenario scenario = with(first, last);
        const models::StageContent all{0, 16, true, true};
        const FoldedStage folded = folded_stage(scenario, all, 0);
        const models::StageGraph whole =
            models::build_stage(scenario.model, scenarios::execution_of(scenario), all);
        const auto price = [&](const models::StageGraph& graph, LayerFold fold) {
            const PassPricer pricer(scenario);
            return pricer.time(models::backward_steps(graph).kernels, fold).total();
        };
        EXPECT_NEAR(price(folded.graph, folded.fold), price(whole, {}), 1e-9)
            << first << " and " << last;
        EXPECT_LT(folded.graph.content.layers, 16);
    }
}

}  // namespace
}  // namespace debubble::sim
