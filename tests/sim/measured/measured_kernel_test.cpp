#include "sim/measured/compare_measured.h"

#include <vector>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/cluster/reader.h"
#include "sim/cost/kernels/kernel_cost.h"

namespace debubble::sim {
namespace {

using testing::HasSubstr;

MeasuredStep row_of(const std::string& scenario, const std::string& measured = "time_s") {
    std::vector<MeasuredStep> steps;
    read_measured(R"({"row": "one", "scenario": )" + scenario + R"(, "measured": {")" + measured +
                      R"(": 1e-3}})",
                  "kernels.jsonl", steps);
    return steps.at(0);
}

std::string product(const std::string& more) {
    return R"({"cluster": "hgx-b200", "kernel": "gemm", "shape": {"m": 4096, "n": 4096, "k": 8192})" +
           more + "}";
}

/// Short runs are measured at another clock than steps have.
TEST(MeasuredKernel, IsPricedAtTheClockThatItWasMeasuredAt) {
    models::Gemm gemm;
    gemm.m = gemm.n = 4096;
    gemm.k = 8192;
    scenarios::Gpu gpu = scenarios::read_cluster("hgx-b200").gpu;
    const auto predicted = [](const std::string& more) {
        return compare_kernel(row_of(product(more))).time.value().predicted;
    };
    EXPECT_DOUBLE_EQ(predicted(R"(, "measures": "sustained")"), seconds(kernel_time(gemm, gpu)));
    gpu.sustained_clock = 1;
    EXPECT_DOUBLE_EQ(predicted(""), seconds(kernel_time(gemm, gpu)));
    EXPECT_LT(predicted(""), predicted(R"(, "measures": "sustained")"));
}

TEST(MeasuredKernel, ThatIsNoneSaysWhy) {
    const auto unsaid = [](const std::string& scenario) {
        return compare_kernel(row_of(scenario)).unsaid.value_or("");
    };
    EXPECT_THAT(unsaid(product(R"(, "dtype": "fp7")")), HasSubstr("fp7"));
    EXPECT_THAT(unsaid(R"({"cluster": "hgx-b200", "kernel": "memory", "shape": {"read": 1}})"),
                HasSubstr("GEMMs and attention"));
    EXPECT_THROW(row_of(product(""), "step_s"), InputError);
    EXPECT_THROW(row_of(product(""), "busbw_gb_per_s"), InputError);
}

}  // namespace
}  // namespace debubble::sim
