#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

namespace debubble::sim {
namespace {

double step_of_rows(const char* dispatcher, const char* there, const char* back,
                    const char* nic = "400 Gb/s") {
    return predict(scenarios::parse_scenario(
                       fmt::format("model: {{base: qwen3-30b-a3b, layers: 4}}\ncluster: hgx-h100\n"
                                   "nodes: 4\nparallel: {{expert: 32}}\n"
                                   "training: {{seq_length: 4096}}\n"
                                   "framework: {{base: megatron-2026, dispatcher: {}, "
                                   "moe_dispatch_fwd_dtype: {}, moe_combine_bwd_dtype: {}}}\n",
                                   dispatcher, there, back),
                       "rows.yaml", {{"cluster.network.nic_bandwidth", nic}}))
        .prediction.step_time_s;
}

/// Where the network is the bound, a row of half the bytes takes less than the casts around it.
TEST(NarrowDispatchCost, PaysOverASlowNetworkEachWay) {
    for (const char* dispatcher : {"alltoall", "deepep", "hybridep"}) {
        const auto step = [&](const char* there, const char* back) {
            return step_of_rows(dispatcher, there, back, "100 Gb/s");
        };
        const double wide = step("bf16", "bf16");
        EXPECT_LT(step("fp8", "bf16"), wide) << dispatcher;
        EXPECT_LT(step("bf16", "fp8"), wide) << dispatcher;
        EXPECT_LT(step("fp8", "fp8"), step("fp8", "bf16")) << dispatcher;
        // As many bytes with their scales: 4 for 128 values, and 1 for 32.
        EXPECT_EQ(step("fp8", "fp8"), step("mxfp8", "mxfp8")) << dispatcher;
    }
}

TEST(NarrowDispatchCost, FallsWithTheNetworksBandwidth) {
    double before = 0;
    for (const char* nic : {"800 Gb/s", "400 Gb/s", "100 Gb/s", "25 Gb/s"}) {
        const double step = step_of_rows("deepep", "fp8", "fp8", nic);
        EXPECT_GE(step, before) << nic;
        before = step;
    }
}

}  // namespace
}  // namespace debubble::sim
