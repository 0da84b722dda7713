#include "exec/program/calibrate/device_rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cost/kernels/kernel_cost.h"

/// A sweep's rates are the constants of the cost model that prices its shapes.
namespace debubble::exec {
namespace {

using testing::DoubleNear;

/// The timings of a sweep if the cost model were the GPU.
std::vector<KernelTiming> timed_by(const scenarios::Gpu& gpu) {
    std::vector<KernelTiming> timings;
    const auto add = [&](const char* name, const auto& work) {
        timings.push_back({{name, {}, work}, seconds(sim::kernel_time(work, gpu))});
    };
    const std::int64_t down = 6, across = 22;  // tiles of one wave on 132 multiprocessors
    for (std::int64_t k = 512; k <= 16384; k *= 2)
        add("product", models::Gemm{1, 256 * down, 128 * across, k, {}, 2});
    add("product", models::Gemm{1, 256 * down, 128 * across, 16384, {}, 4});
    for (const bool backward : {false, true})
        for (std::int64_t length = 128; length <= 16384; length *= 2)
            add("attention", models::FlashAttention{4 * 132 * 128 / (2 * length) + 1, 2, 2, length,
                                                    length, 128, true, backward, 2});
    for (std::int64_t bytes = 8192; bytes <= std::int64_t{1} << 29; bytes *= 4)
        for (const char* kernel : {"sum", "gelu", "norm"})
            add(kernel, models::Traffic{Bytes{bytes}, Bytes{bytes}});
    return timings;
}

scenarios::Gpu h100() {
    scenarios::Gpu gpu;
    gpu.sms = 132;
    gpu.fp16_flops_per_s = 989.4e12;
    gpu.fp32_flops_per_s = 66.9e12;
    gpu.memory = Bytes{85'000'000'000};
    gpu.memory_bandwidth = {3352e9};
    gpu.gemm_efficiency = 0.64;
    gpu.gemm_fill = gpu.gemm_depth = 0;
    gpu.attention_forward_efficiency = 0.50;
    gpu.attention_backward_efficiency = 0.40;
    gpu.memory_efficiency = 0.74;
    gpu.gemm_overhead = Duration{3000};
    gpu.kernel_overhead = Duration{2000};
    return gpu;
}

TEST(DeviceRates, FindTheCostModelsConstantsAgain) {
    const scenarios::Gpu gpu = h100();
    scenarios::Cluster sheet;
    sheet.gpu = gpu;
    scenarios::Gpu found;
    put_rates({132, gpu.memory, true, 1, ""}, rates_of(timed_by(gpu)), sheet, found);
    EXPECT_THAT(found.gemm_efficiency, DoubleNear(0.64, 0.001));
    EXPECT_THAT(found.attention_forward_efficiency, DoubleNear(0.50, 0.001));
    EXPECT_THAT(found.attention_backward_efficiency, DoubleNear(0.40, 0.001));
    EXPECT_THAT(found.memory_efficiency, DoubleNear(0.74, 0.001));
    EXPECT_THAT(seconds(found.gemm_overhead), DoubleNear(3e-6, 3e-8));
    EXPECT_THAT(seconds(found.kernel_overhead), DoubleNear(2e-6, 2e-8));
    EXPECT_EQ(found.fp16_flops_per_s, gpu.fp16_flops_per_s);
    EXPECT_EQ(found.sms, 132);
}

TEST(DeviceRates, OfACardWithoutADatasheetAreItsPeaks) {
    const scenarios::Gpu gpu = h100();
    scenarios::Gpu found;
    put_rates({132, gpu.memory, true, 1, ""}, rates_of(timed_by(gpu)), {}, found);
    EXPECT_THAT(*found.fp16_flops_per_s, DoubleNear(989.4e12 * 0.64, 1e12));
    EXPECT_THAT(*found.fp32_flops_per_s, DoubleNear(66.9e12 * 0.64, 1e11));
    EXPECT_THAT(found.memory_bandwidth.value, DoubleNear(3352e9 * 0.74, 3e9));
    EXPECT_EQ(found.gemm_efficiency, 1);
    EXPECT_EQ(found.memory_efficiency, 1);
    // The cost model's time of a large product is the measured one.
    const models::Gemm gemm{1, 1536, 2816, 8192, {}, 2};
    EXPECT_THAT(seconds(sim::kernel_time(gemm, found)),
                DoubleNear(seconds(sim::kernel_time(gemm, gpu)), 1e-6));
}

TEST(DeviceRates, OfASharedCardAreOfItsPart) {
    const scenarios::Gpu gpu = h100();
    scenarios::Cluster sheet;
    sheet.gpu = gpu;
    scenarios::Gpu found;
    DeviceRates half = rates_of(timed_by(gpu));
    half.product_flops_per_s /= 2;
    put_rates({132, gpu.memory, true, 2, ""}, half, sheet, found);
    EXPECT_EQ(found.memory.count, gpu.memory.count / 2);
    EXPECT_EQ(*found.fp16_flops_per_s, *gpu.fp16_flops_per_s / 2);
    EXPECT_THAT(found.gemm_efficiency, DoubleNear(0.64, 0.001));
}

std::string card(const char* driver_name, double gigabytes) {
    const auto cluster = shipped_cluster_of(driver_name, Bytes{std::int64_t(gigabytes * 1e9)});
    return cluster ? cluster->name : "none";
}

TEST(Datasheet, IsTheShippedClustersWithSuchCards) {
    EXPECT_EQ(card("NVIDIA H100 80GB HBM3", 85.0), "hgx-h100");
    EXPECT_EQ(card("NVIDIA H200", 150.1), "hgx-h200");
    EXPECT_EQ(card("NVIDIA A100-SXM4-40GB", 42.4), "dgx-a100-40gb");
    EXPECT_EQ(card("NVIDIA A100-SXM4-80GB", 85.0), "dgx-a100-80gb");
    EXPECT_EQ(card("NVIDIA A40", 47.6), "a40-pair");
    EXPECT_EQ(card("NVIDIA B200", 191.5), "hgx-b200");
    EXPECT_EQ(card("NVIDIA GeForce RTX 4090", 25.3), "none");
    EXPECT_EQ(card("an emulated GPU", 0.2), "none");
}

TEST(Curve, SaysTheRateOfEveryShape) {
    const models::FlashAttention forward{1, 1, 1, 1000, 1000, 100, false, false, 2};
    models::FlashAttention backward = forward;
    backward.backward = true;
    const std::vector<KernelTiming> timings{
        {{"product", {}, models::Gemm{1, 1000, 1000, 500, {}, 2}}, 1e-3},
        {{"product", {}, models::Gemm{1, 1000, 1000, 500, {}, 4}}, 1e-2},
        {{"attention", {}, forward}, 1e-3},
        {{"attention", {}, backward}, 1e-3},
        {{"sum", {}, models::Traffic{Bytes{2'000'000}, Bytes{1'000'000}}}, 1e-6}};
    EXPECT_EQ(curve_text(timings, "product"),
              "500 deep in 16 bits 1 TFLOP/s, 500 deep in 32 bits 0.1 TFLOP/s");
    EXPECT_EQ(curve_text(timings, "attention"),
              "1000 tokens forward 0.4 TFLOP/s, 1000 tokens backward 1 TFLOP/s");
    EXPECT_EQ(curve_text(timings, "sum"), "3 MB 3e+03 GB/s");
}

}  // namespace
}  // namespace debubble::exec
