#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/read/read_scenario.h"
#include "sim/explain/plan_run.h"
#include "sim/predict.h"

/// From a plan and its step to the whole training.
namespace debubble::sim {
namespace {

using scenarios::Scenario;

constexpr double kHour = 3600;

Scenario scenario_with(const std::string& more, const std::string& cluster = "hgx-h800",
                       int gpus = 2048) {
    return scenarios::parse_scenario(
        fmt::format("model: gpt2-xl\ncluster: {}\ngpus: {}\nparallel: {{data: auto}}\n{}", cluster,
                    gpus, more),
        "here.yaml");
}

/// A step of a second with so many tokens, of one rank.
Prediction step_of(double tokens, std::int64_t parameters) {
    Prediction prediction;
    prediction.step_time_s = 1;
    prediction.tokens_per_s = tokens;
    prediction.parameters = parameters;
    prediction.ranks.resize(1);
    return prediction;
}

RunPlan run_of(const Scenario& scenario, Prediction prediction) {
    plan_run(scenario, prediction);
    EXPECT_TRUE(prediction.run);
    return prediction.run.value_or(RunPlan{});
}

/// Test 6: 180 thousand GPU hours for 1T tokens on 2,048 GPUs (arXiv:2412.19437, table 1).
TEST(PlanRun, OfDeepSeekV3TakesItsHoursDaysAndDollars) {
    const Scenario scenario =
        scenario_with("training: {tokens: 14.8T}\nprice: {gpu_hour: 2 USD}\n");
    const double per_s = 1e12 / (180'000 * kHour / 2048);
    const RunPlan run = run_of(scenario, step_of(per_s, 671'000'000'000));
    EXPECT_NEAR(run.days(), 54.2, 0.05);
    EXPECT_NEAR(run.gpu_hours / 1e3, 2664, 1);
    EXPECT_NEAR(*run.cost / 1e6, 5.33, 0.005);
    EXPECT_EQ(run.currency, "USD");
    EXPECT_EQ(run.figures.goodput(), 1);
}

/// Test 7: 30.84M GPU hours at 700 W are 21.6 GWh; all of Llama 3.1's 39.3M are 27.5 GWh and 11,390
/// t at 0.414 kg/kWh (llama-models, models/llama3_1/MODEL_CARD.md).
TEST(PlanRun, OfLlama3TakesTheEnergyOfItsModelCard) {
    const Scenario scenario =
        scenario_with("training: {tokens: 15T}\nenergy: {busy: 1, co2: 0.414}\n",
                      "{base: hgx-h100, node_power: 5.6 kW}", 16'384);
    const auto with_hours = [&](double hours) {
        return run_of(scenario, step_of(15e12 / (hours / 16'384 * kHour), 405'000'000'000));
    };
    EXPECT_NEAR(*with_hours(30.84e6).gpus_mwh / 1e3, 21.6, 0.05);
    const RunPlan all = with_hours(39.3e6);
    EXPECT_NEAR(*all.gpus_mwh / 1e3, 27.5, 0.05);
    EXPECT_NEAR(*all.energy_mwh / 1e3, 27.5, 0.05);
    EXPECT_NEAR(*all.co2_t, 11'390, 10);
}

/// Test 8: 384 A100 of 400 W for 117.5 days (BLOOM, arXiv:2211.02001).
TEST(PlanRun, OfBloomTakesItsEnergy) {
    const Scenario scenario = scenario_with("training: {tokens: 366B}\n", "dgx-a100-80gb", 384);
    const RunPlan run = run_of(scenario, step_of(366e9 / (117.5 * 24 * kHour), 176'000'000'000));
    EXPECT_NEAR(*run.gpus_mwh, 433, 1);
}

/// Test 9: 14 bytes a parameter are BLOOM's 2.3 TiB; in 40 s 62 GB/s. MLPerf Storage has about 13.
TEST(PlanRun, ChecksOutTheBytesOfCheckpoints) {
    const Scenario scenario = scenario_with("training: {tokens: 1B}\n");
    const auto bytes = static_cast<double>(checkpoint_bytes(scenario, 176'247'000'000).count);
    EXPECT_NEAR(bytes / 1024 / kGiB, 2.3, 0.06);
    EXPECT_NEAR(bytes / 40 / 1e9, 62, 0.5);
    EXPECT_NEAR(static_cast<double>(checkpoint_bytes(scenario, 405'850'000'000).count) / 5.29e12, 1,
                0.08);
    const Scenario pure = scenario_with("training: {tokens: 1B, precision: pure-bf16}\n");
    EXPECT_EQ(checkpoint_bytes(pure, 100).count, 600);
}

/// Test 2: 6.50 failures in 1,000 machine days; published 1.8 h of 16,384 and 0.23 h of 131,072
/// GPUs (Kokolis et al., arXiv:2410.21680).
TEST(PlanRun, HasTheMttfsOfRsc) {
    scenarios::Reliability rsc;
    rsc.failures_per_host_year = 2.374;
    rsc.checkpoint.pause_s = 300;
    CheckpointTraffic traffic;
    traffic.adapters = traffic.host_link = traffic.write_s = 1;
    const auto hours = [&](int gpus) {
        RunJob job;
        job.machines = gpus / 8;
        return with_reliability(job, rsc, gpus, 1, traffic).mttf() / kHour;
    };
    EXPECT_NEAR(hours(16'384), 1.80, 0.01);
    EXPECT_NEAR(hours(131'072), 0.225, 0.001);
}

TEST(PlanRun, IsLeftOutWithoutTokens) {
    Prediction prediction = step_of(1e6, 1'000'000);
    plan_run(scenario_with("reliability: rsc-1\n"), prediction);
    EXPECT_FALSE(prediction.run);
}

TEST(PlanRun, WritesByTheSlowerOfStorageAndAdapters) {
    const auto job_with = [&](const std::string& checkpoint) {
        const Scenario scenario = scenario_with(
            fmt::format("training: {{tokens: 1T}}\nreliability: {{failures_per_job_day: 1, "
                        "checkpoint: {{{}}}}}\n",
                        checkpoint),
            "hgx-h100", 512);
        return run_job_of(scenario, step_of(1e6, 100'000'000'000));
    };
    const RunJob slow = job_with("write_bandwidth: 10 GB/s");
    EXPECT_NEAR(slow.save.pause, 1.4e12 / 10e9, 0.1);
    EXPECT_EQ(slow.save.persist, 0);
    const RunJob fast = job_with("write_bandwidth: 900 TB/s");
    EXPECT_NEAR(fast.save.pause, 1.4e12 / 64 / (8 * 50e9 * 0.92), 0.01);
    const RunJob async = job_with("async: true, write_bandwidth: 10 GB/s");
    EXPECT_NEAR(async.save.pause, 0.34 + 1.4e12 / 512 / 50e9, 0.001);
    EXPECT_NEAR(async.save.persist, 140 + 16.5, 0.1);
    EXPECT_EQ(job_with("write_bandwidth: 10 GB/s, latency: 3 s").save.pause, slow.save.pause + 3);
    EXPECT_NEAR(job_with("async: true, write_bandwidth: 10 GB/s, latency: 0 s").save.persist, 140,
                0.1);
    EXPECT_LT(async.save.background, 1);  // nothing is exposed
}

/// ByteCheckpoint saves 405B from 8,960 GPUs in 51.1 s and 7B from 1,488 in 20.1 s (table 8), of
/// which the fixed time is a fit, and so is the rate of its storage.
TEST(PlanRun, WritesInTheBackgroundAsLongAsByteCheckpoint) {
    const auto persist = [](int gpus, std::int64_t parameters) {
        const Scenario scenario = scenario_with(
            fmt::format("training: {{tokens: 1T}}\nreliability: {{checkpoint: {{async: true, "
                        "write_bandwidth: {} GB/s}}}}\n",
                        0.146 * gpus / 8),
            "hgx-h800", gpus);
        return run_job_of(scenario, step_of(1e6, parameters)).save.persist;
    };
    EXPECT_NEAR(persist(8960, 405'000'000'000), 51.1, 0.2);
    EXPECT_NEAR(persist(1488, 7'000'000'000), 20.1, 0.2);
}

/// A disk of its own is no faster through adapters.
TEST(PlanRun, OfOneMachineWritesAtTheRateThatWasMeasured) {
    const Scenario scenario = scenario_with(
        "training: {tokens: 1B}\nreliability: {checkpoint: {write_bandwidth: 900 TB/s}}\n",
        "hgx-h100", 8);
    EXPECT_NEAR(run_job_of(scenario, step_of(1e6, 1'000'000'000)).save.pause, 14e9 / 900e12, 1e-6);
}

TEST(PlanRun, OfLlama3405BTakesAboutItsGpuHours) {
    const Scenario scenario = scenarios::read_scenario(
        "llama3-405b", {{"training.tokens", "15.6T"}, {"reliability", "llama3-2024"}});
    const Prediction prediction =
        predict(scenario, {.keep_trace = false, .explain = false, .play_allocator = false})
            .prediction;
    ASSERT_TRUE(prediction.run);
    // 30.84 million, of which some were smaller starts and other stages.
    EXPECT_NEAR(prediction.run->gpu_hours / 30.84e6, 1, 0.12);
    EXPECT_GT(prediction.run->figures.goodput(), 0.90);
    EXPECT_LT(prediction.run->figures.p5_s, prediction.run->figures.p95_s);
}

}  // namespace
}  // namespace debubble::sim
