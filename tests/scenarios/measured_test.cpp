#include "scenarios/cluster/measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "text/document.h"

namespace debubble::scenarios {
namespace {

using models::Collective;
using models::Part;
using testing::HasSubstr;

/// A scenario whose cluster is a shipped one with this section.
std::string with_section(const std::string& section) {
    std::string indented;
    for (std::size_t at = 0; at < section.size();) {
        const std::size_t end = section.find('\n', at);
        indented += "  " + section.substr(at, end - at) + "\n";
        at = end == std::string::npos ? section.size() : end + 1;
    }
    return "model: gpt2\nparallel: {pipeline: 2}\ntraining: {global_batch: 4, seq_length: 64}\n"
           "cluster:\n  base: this-machine\n" +
           indented;
}

std::shared_ptr<const Measured> read(const std::string& section) {
    return parse_scenario(with_section(section), "calibrated.yaml").cluster.measured;
}

std::string mistakes_in(const std::string& section) {
    try {
        read(section);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

Measured some() {
    Measured measured;
    measured.with = "onednn 2.6.3 kernels, \"quoted\" \\ and so on";
    measured.plans = {"gpt2 on 2 x \"cores\", pipeline 2; 1f1b", "another"};
    measured.pass_overhead = Duration{1234};
    measured.step_overhead = Duration{0};
    measured.optimizer_seconds_per_element = 1.0 / 3e9;
    measured.zero_seconds_per_element = 1.0 / 7e9;
    measured.norm_seconds_per_element = 7e-11;
    measured.core_share = 0.58;
    measured.operators[{"linear fp32/fp32 gemm 1x2x3x4", Part::Forward}] = {Duration{123'456'789},
                                                                            Duration{12}, 40};
    measured.operators[{"linear fp32/fp32 gemm 1x2x3x4", Part::Weight}] = {Duration{0}, Duration{0},
                                                                           1};
    measured.operators[{"norm fp32/fp32", Part::Again}] = {Duration{17}, Duration{3}, 10};
    measured.collectives[{Collective::Kind::AllReduce, 2}] = {Duration{2500}, {1.0e10 / 3}};
    measured.collectives[{Collective::Kind::ReduceScatter, 16}] = {Duration{}, {5e9}};
    measured.products = {{"1x2x3, a \"bf16\"", "130102:00ff"}, {"1x2x4", "130102:01ff"}};
    return measured;
}

TEST(Measured, IsReadBackAsItWasWritten) {
    const auto back = read(measured_text(some()));
    ASSERT_NE(back, nullptr);
    EXPECT_EQ(*back, some());
    const Measured nothing;
    EXPECT_EQ(*read(measured_text(nothing)), nothing);
}

TEST(Measured, IsFoundBySignatureAndPart) {
    const Measured measured = some();
    EXPECT_EQ(measured.find("norm fp32/fp32", Part::Again)->median, Duration{17});
    EXPECT_EQ(measured.find("norm fp32/fp32", Part::Forward), nullptr);
    EXPECT_EQ(measured.find("norm", Part::Again), nullptr);
}

TEST(Measured, IsAbsentFromMachinesThatWereNotCalibrated) {
    EXPECT_EQ(read("nodes: 1"), nullptr);
}

/// Each mistake is said with its place, and none ends in a reading.
TEST(Measured, RefusesWhatCannotBe) {
    const std::string entry = "measured:\n  optimizer_seconds_per_element: 1e-9\n  operators:\n";
    const std::string one = "    - {operator: a, part: forward, median: 1 us}\n";
    EXPECT_EQ(mistakes_in(entry + one), "none");
    EXPECT_THAT(mistakes_in(entry + one + one),
                HasSubstr("the forward of this operator is given twice"));
    EXPECT_THAT(mistakes_in(entry + "    - {operator: a, part: forwards, median: 1 us}\n"),
                HasSubstr("did you mean 'forward'"));
    EXPECT_THAT(mistakes_in(entry + "    - {operator: a, part: forward, median: -1 us}\n"),
                HasSubstr("'-1 us' is negative"));
    EXPECT_THAT(mistakes_in(entry + "    - {operator: a, part: forward, median: 1}\n"),
                HasSubstr("has no unit"));
    EXPECT_THAT(mistakes_in(entry + "    - {operator: a, part: forward}\n"), HasSubstr("median"));
    EXPECT_THAT(mistakes_in(entry + "    - {operator: a, part: forward, median: 1 us, samples: 0}"),
                HasSubstr("samples"));
    EXPECT_THAT(mistakes_in(entry + "    - {operator: " + std::string(1001, 'a') +
                            ", part: forward, median: 1 us}\n"),
                HasSubstr("at most 1000 characters"));
    EXPECT_THAT(mistakes_in(entry + "    - just words\n"), HasSubstr("calibrated.yaml:"));
    const std::string product = "    - {product: 1x2x3, algorithm: '1:0'}\n";
    EXPECT_EQ(mistakes_in(entry + one + "  products:\n" + product), "none");
    EXPECT_THAT(mistakes_in(entry + one + "  products:\n" + product + product),
                HasSubstr("the algorithm of this GEMM is given twice"));
    EXPECT_THAT(mistakes_in(entry + one + "  products:\n    - {product: 1x2x3}\n"),
                HasSubstr("algorithm"));
    EXPECT_THAT(mistakes_in(entry + one + "  products: 3\n"),
                HasSubstr("'measured.products' must be a list"));
    EXPECT_THAT(mistakes_in(entry + one + "  products:\n    - {product: a, algorithm: " +
                            std::string(1001, 'a') + "}\n"),
                HasSubstr("at most 1000 characters"));
    EXPECT_THAT(mistakes_in("measured: 3"), HasSubstr("calibrated.yaml:"));
    EXPECT_THAT(mistakes_in("measured: {operators: 3, optimizer_seconds_per_element: 0}"),
                HasSubstr("'measured.operators' must be a list"));
    EXPECT_THAT(mistakes_in("measured: {operators: [], optimizer_seconds_per_element: 2}"),
                HasSubstr("optimizer_seconds_per_element"));
    EXPECT_THAT(mistakes_in("measured: {operators: []}"),
                HasSubstr("optimizer_seconds_per_element"));
    EXPECT_THAT(mistakes_in("measured: {operator: [], optimizer_seconds_per_element: 0}"),
                HasSubstr("did you mean 'operators'"));
    EXPECT_THAT(mistakes_in("measured: {operators: [], optimizer_seconds_per_element: 0, "
                            "collectives: [{kind: all_reduce, ranks: 1, latency: 1 us, "
                            "bandwidth: 1 GB/s}]}"),
                HasSubstr("ranks"));
    EXPECT_THAT(mistakes_in("measured: {operators: [], optimizer_seconds_per_element: 0, "
                            "collectives: [{kind: all_reduce, ranks: 2, latency: 1 us, "
                            "bandwidth: 0 GB/s}]}"),
                HasSubstr("bandwidth"));
}

}  // namespace
}  // namespace debubble::scenarios
