#include "exec/program/calibrate/run_times.h"

#include <gmock/gmock.h>

#include "scenarios/read/read_scenario.h"
#include "text/document.h"

/// What runs measured of saves, loads and starts.
namespace debubble::exec {
namespace {

Transfer transfer(double gigabytes, double seconds) {
    return {Bytes{static_cast<std::int64_t>(gigabytes * 1e9)}, seconds};
}

TEST(RunTimes, OfTwoSizesTellAFixedTimeFromARate) {
    const auto law = fit_transfers({transfer(1, 2.5), transfer(5, 4.5), transfer(9, 6.5)});
    ASSERT_TRUE(law);
    EXPECT_TRUE(law->knows_fixed);
    EXPECT_NEAR(law->rate.value, 2e9, 1e3);
    EXPECT_NEAR(law->fixed_s, 2, 1e-6);
}

TEST(RunTimes, OfOneSizeAreAllRate) {
    const auto law = fit_transfers({transfer(1, 2), transfer(1.01, 2.02)});
    ASSERT_TRUE(law);
    EXPECT_FALSE(law->knows_fixed);
    EXPECT_NEAR(law->rate.value, 0.5e9, 1e3);
    EXPECT_EQ(law->fixed_s, 0);
    EXPECT_FALSE(fit_transfers({}));
}

TEST(RunTimes, OfMoreBytesInLessTimeAreNoise) {
    const auto law = fit_transfers({transfer(1, 2), transfer(3, 1)});
    ASSERT_TRUE(law);
    EXPECT_GT(law->rate.value, 0);
    EXPECT_TRUE(std::isfinite(law->rate.value));
}

TEST(RunTimes, GoAboveWhatTheClusterSaysAlready) {
    scenarios::Cluster cluster =
        scenarios::parse_scenario(
            "model: gpt2-xl\ncluster: {base: dgx-a100-80gb, reliability: {spares: 3, "
            "checkpoint: {async: true, latency: 9 s}}}\n",
            "here.yaml")
            .cluster;
    RunTimes run{4, transfer(1, 2), transfer(1, 0.5)};
    put_site_times(site_times_of({run, {6, {}, {}}, {5, {}, {}}}), cluster);
    const std::string text = reliability_text(cluster);
    EXPECT_EQ(text,
              "reliability: {spares: 3, checkpoint: {async: true, latency: \"0 s\", "
              "write_bandwidth: \"5e+08 B/s\", read_bandwidth: \"2e+09 B/s\"}, restart: {start: "
              "\"5 s\"}}\n");
    const scenarios::Reliability read =
        *scenarios::parse_scenario("model: gpt2-xl\ncluster: dgx-a100-80gb\n" + text, "here.yaml")
             .reliability;
    EXPECT_EQ(read.checkpoint.write_bandwidth, BytesPerSecond{5e8});
    EXPECT_EQ(read.restart.start_s, 5);
    EXPECT_EQ(reliability_text({}), "");
}

}  // namespace
}  // namespace debubble::exec
