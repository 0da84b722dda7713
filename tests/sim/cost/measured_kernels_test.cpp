#include "sim/cost/kernels/kernel_cost.h"

#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "scenarios/cluster/reader.h"

namespace debubble::sim {
namespace {

models::Gemm square(std::int64_t size, models::Narrow operands = models::Narrow::None) {
    models::Gemm gemm;
    gemm.m = gemm.n = gemm.k = size;
    gemm.operands = operands;
    return gemm;
}

double flops(const models::Gemm& gemm) {
    return 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n * gemm.k);
}

/// Kernels that take twice what the law says.
scenarios::KernelTable twice_the_law() {
    scenarios::KernelTable table;
    for (const std::int64_t size : {1024, 2048, 4096, 8192})
        table.products.push_back({square(size), 2 * flops(square(size)) / 1e12});
    return table;
}

double law(const models::Gemm& gemm) {
    return flops(gemm) / 1e12;
}

TEST(MeasuredKernels, CorrectTheLawOfTheirKind) {
    const scenarios::KernelTable table = twice_the_law();
    EXPECT_NEAR(*measured_over_law<models::Gemm>(square(3000), table, law), 2, 1e-9);
    EXPECT_NEAR(*measured_over_law<models::Gemm>(square(100'000), table, law), 2, 1e-9);
    EXPECT_FALSE(measured_over_law<models::Gemm>(square(4096, models::Narrow::Fp8), table, law));
    models::Gemm grouped = square(4096);
    grouped.group_rows = 4096;
    EXPECT_FALSE(measured_over_law<models::Gemm>(grouped, table, law));
    EXPECT_FALSE(measured_over_law<models::FlashAttention>(
        models::FlashAttention{}, table, [](const models::FlashAttention&) { return 1.0; }));
}

TEST(MeasuredKernels, HaveTheirOwnTime) {
    scenarios::KernelTable table = twice_the_law();
    table.products[2].seconds *= 1.5;
    EXPECT_NEAR(*measured_over_law<models::Gemm>(square(4096), table, law), 3, 0.01);
    const double between = *measured_over_law<models::Gemm>(square(5793), table, law);
    EXPECT_GT(between, 2);
    EXPECT_LT(between, 3);
}

/// A device's own products are taken as they are in steps, or at the clock that steps keep.
TEST(MeasuredKernels, GoBeforeTheRatesOfAGpu) {
    scenarios::Gpu gpu = scenarios::read_cluster("hgx-b200").gpu;
    const models::Gemm asked = square(4096);
    const double measured = 2 * seconds(kernel_time(asked, gpu));
    const double overhead = seconds(gpu.gemm_overhead);
    auto table = std::make_shared<scenarios::KernelTable>();
    table->products.push_back({asked, measured});
    gpu.kernels = table;
    EXPECT_NEAR(seconds(kernel_time(asked, gpu)), measured, 1e-3 * measured);
    table->burst = true;
    EXPECT_NEAR(seconds(kernel_time(asked, gpu)), measured / gpu.sustained_clock, 4 * overhead)
        << "a launch has no clock";
    EXPECT_GT(seconds(kernel_time(square(8192), gpu)), 4 * measured) << "near ones are corrected";
}

}  // namespace
}  // namespace debubble::sim
