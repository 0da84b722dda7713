#include "sim/cost/kernels/kernel_cost.h"

#include <gmock/gmock.h>

#include "tests/sim/machines.h"

namespace debubble::sim {
namespace {

using models::FlashAttention;
using models::Gemm;
using models::Traffic;

Gemm gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {1, m, n, k, {}};
}

TEST(KernelCost, OfAFullWaveIsThePeakThatKernelsReach) {
    // 108 tiles of 256 x 128: one wave, no multiprocessor idle.
    const auto time = kernel_time(gemm(256 * 12, 128 * 9, 8192), a100()) - a100().gemm_overhead;
    const double flops = 2.0 * 256 * 12 * 128 * 9 * 8192;
    const double depth = 8192 / (8192 + a100().gemm_depth);  // what a tile's ends leave
    EXPECT_NEAR(flops / seconds(time) / (312e12 * 0.868 * depth), 1, 1e-3);
}

TEST(KernelCost, OfOneTileMoreThanAWaveIsAnotherWave) {
    // No smaller tile fills 12 x 9 + 1 column of tiles better than a second wave costs.
    const auto full = kernel_time(gemm(256 * 12, 128 * 9, 65536), a100());
    const auto more = kernel_time(gemm(256 * 12, 128 * 9 + 1, 65536), a100());
    EXPECT_GT(seconds(more), 1.05 * seconds(full));
    EXPECT_LE(seconds(more), 2.01 * seconds(full));
}

TEST(KernelCost, IsSetByBytesWhenThereIsLittleToCompute) {
    const auto thin = kernel_time(gemm(1, 16384, 16384), a100()) - a100().gemm_overhead;
    EXPECT_GE(seconds(thin), 2.0 * 16384 * 16384 / (2039e9 * 0.608));
    Gemm accumulating = gemm(12288, 12288, 64);
    const auto without = kernel_time(accumulating, a100());
    accumulating.accumulated = Bytes{8 * 12288LL * 12288};
    EXPECT_NEAR(seconds(kernel_time(accumulating, a100()) - without),
                8 * 12288.0 * 12288 / (2039e9 * 0.608), 2e-5);
}

TEST(KernelCost, NeverFallsWhenThereIsMoreToDo) {
    for (const std::int64_t m : {64, 512, 2048, 4096})
        for (const std::int64_t n : {64, 1000, 4096})
            for (const std::int64_t k : {64, 1024, 12288}) {
                const auto time = kernel_time(gemm(m, n, k), a100());
                EXPECT_LE(time, kernel_time(gemm(m + 1, n, k), a100()));
                EXPECT_LE(time, kernel_time(gemm(m, n + 1, k), a100()));
                EXPECT_LE(time, kernel_time(gemm(m, n, k + 1), a100()));
                EXPECT_LE(time, kernel_time(Gemm{1, m, n, k, {}, 4}, a100()));
                EXPECT_LE(time, kernel_time(Gemm{2, m, n, k, {}}, a100()));
            }
}

TEST(KernelCost, OfElementwiseKernelsIsBytesOverBandwidth) {
    const auto time = kernel_time(Traffic{Bytes{1 << 30}, Bytes{1 << 30}}, a100());
    EXPECT_NEAR(seconds(time), 2e-6 + 2.0 * (1 << 30) / (2039e9 * 0.608), 1e-9);
}

/// 108 multiprocessors share what one would take.
TEST(KernelCost, OfElementwiseKernelsIsNoLessThanTheirMultiprocessorsTake) {
    Traffic choice{Bytes{1 << 20}, Bytes{1 << 20}};
    const auto by_bytes = kernel_time(choice, a100());
    choice.busy = 1e-6;
    EXPECT_EQ(kernel_time(choice, a100()), by_bytes);
    choice.busy = 0.108;
    EXPECT_NEAR(seconds(kernel_time(choice, a100())), 2e-6 + 1e-3, 1e-9);
}

/// Four streams of each of many tokens, mixed by a square of coefficients: no tile fits them.
TEST(KernelCost, OfProductsBelowATileIsSetByTheirBytes) {
    const Gemm mixing{8192, 4, 4096, 4, {}};
    const double bytes = 8192.0 * (4 * 4 + 2 * 4 * 4096) * 2;
    const auto time = kernel_time(mixing, a100()) - a100().gemm_overhead;
    EXPECT_NEAR(seconds(time) / (bytes / (2039e9 * 0.608)), 1, 1e-3);
}

TEST(KernelCost, OfAttentionOverChosenKeysHasItsOwnRates) {
    scenarios::Gpu gpu = a100();
    FlashAttention sparse{1, 64, 1, 8192, 8192, 576, true, false};
    sparse.narrow_values = 512;
    sparse.window = 2048;
    const auto with = [&](models::FusedAttention kernel) {
        sparse.kernel = kernel;
        return seconds(kernel_time(sparse, gpu));
    };
    using models::FusedAttention;
    gpu.attention_rates[{FusedAttention::Flash2, false}] = {{{2048, 0.5}}, {{2048, 0.4}}};
    EXPECT_EQ(with(FusedAttention::ChosenKeys), with(FusedAttention::Flash2));
    gpu.attention_rates[{FusedAttention::ChosenKeys, false}] = {{{2048, 0.25}}, {{2048, 0.2}}};
    EXPECT_NEAR(with(FusedAttention::ChosenKeys) / with(FusedAttention::Flash2), 2, 0.01);
}

TEST(KernelCost, OfCausalAttentionIsHalfForLongSequences) {
    const FlashAttention full{1, 32, 32, 65536, 65536, 128, false, false};
    FlashAttention causal = full;
    causal.causal = true;
    EXPECT_NEAR(seconds(kernel_time(causal, a100())) / seconds(kernel_time(full, a100())), 0.5,
                0.01);
}

TEST(KernelCost, OfSlicesAddsUpToTheWholeSequence) {
    const FlashAttention whole{1, 32, 32, 32768, 32768, 128, true, false};
    double slices = 0;
    for (int slice = 1; slice <= 4; ++slice)
        slices += seconds(
            kernel_time(FlashAttention{1, 32, 32, 8192, 8192 * slice, 128, true, false}, a100()));
    EXPECT_NEAR(slices / seconds(kernel_time(whole, a100())), 1, 0.01);
}

TEST(KernelCost, OfAttentionBackwardIsAboutThreeForwards) {
    const FlashAttention forward{4, 16, 16, 4096, 4096, 128, true, false};
    FlashAttention backward = forward;
    backward.backward = true;
    const double ratio =
        seconds(kernel_time(backward, a100())) / seconds(kernel_time(forward, a100()));
    EXPECT_GT(ratio, 2.5);
    EXPECT_LT(ratio, 3.5);
}

TEST(KernelCost, OfLongAttentionIsItsFlopsAtTheRateOfTheDevice) {
    scenarios::Gpu gpu = a100();
    gpu.attention_forward_efficiency = 0.5;
    const FlashAttention wide{1, 32, 32, 65536, 65536, 128, false, false};
    const double flops = 4.0 * 32 * 65536 * 65536 * 128;
    EXPECT_NEAR(seconds(kernel_time(wide, gpu)), flops / (0.5 * *gpu.fp16_flops_per_s), 1e-5);
}

/// Shares of the median of large products (1090 TFLOP/s), from the middles of what grouped products
/// of a B200 in bf16 were measured at.
TEST(KernelCost, OfGroupedProductsRisesWhereAnExpertHasFewRows) {
    scenarios::Gpu gpu = a100();
    gpu.memory_bandwidth = {1e15};  // the rows alone decide
    const auto rate = [&](std::int64_t rows, std::int64_t grouped) {
        Gemm product{16, rows, 2048, 7168, {}};
        if (grouped > 0) product.group_rows = grouped;
        return 2.0 * 16 * static_cast<double>(rows) * 2048 * 7168 /
               seconds(kernel_time(product, gpu));
    };
    const double large = rate(16384, 0);
    double before = 0;
    for (const auto& [rows, measured] : {std::pair(128, 435.0), std::pair(256, 655.0),
                                         std::pair(512, 890.0), std::pair(1024, 950.0)}) {
        const double share = rate(rows, rows) / large;
        EXPECT_NEAR(share, measured / 1090, 0.09) << rows;
        EXPECT_GT(share, before);
        before = share;
    }
    Gemm weights{16, 2048, 7168, 512, {}};
    weights.group_rows = 512;
    Gemm inputs{16, 512, 7168, 2048, {}};
    inputs.group_rows = 512;
    EXPECT_GT(kernel_time(weights, gpu), kernel_time(inputs, gpu)) << "the rows are summed over";
}

}  // namespace
}  // namespace debubble::sim
