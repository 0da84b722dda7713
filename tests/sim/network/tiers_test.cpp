#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "sim/network/topology.h"
#include "sim/predict.h"

/// Collectives through nodes and network that contend with traffic of either.
namespace debubble::sim {
namespace {

struct TieredJob {
    std::string name;
    std::string text;
};
const std::vector<TieredJob>& tiered_jobs() {
    static const std::vector<TieredJob> all{
        {"reductions between replicas during tensor parallelism",
         "model: mixtral-8x7b\ncluster: hgx-h800\n"
         "parallel: {tensor: 4, pipeline: 2, data: 4, sequence: true, zero_stage: 2, expert: 1, "
         "expert_tensor: 1}\nschedule: 1f1b\n"
         "training: {micro_batch: 2, micro_batches: 4, seq_length: 8192, precision: bf16, "
         "recompute: full}\nframework: megatron-2026\n"},
        {"gathers of layers during context parallelism",
         "model: olmo2-7b\ncluster: hgx-mi300x\n"
         "parallel: {tensor: 1, pipeline: 1, data: 16, context: 4, zero_stage: 3}\nschedule: 1f1b\n"
         "training: {micro_batch: 2, micro_batches: 16, seq_length: 4096, precision: bf16}\n"
         "framework: megatron-2026\n"},
        {"gathers of a bidirectional pipeline",
         "model: gpt-neox-20b\ncluster: hgx-mi355x\n"
         "parallel: {tensor: 4, pipeline: 2, data: 8, context: 2, zero_stage: 3}\n"
         "schedule: chimera\ntraining: {micro_batch: 1, micro_batches: 8, seq_length: 4096, "
         "precision: bf16}\nframework: pytorch-fsdp1\n"},
        {"DeepSpeed's gathers within limits",
         "model: olmo2-7b\ncluster: hgx-mi300x\n"
         "parallel: {tensor: 1, pipeline: 1, data: 16, context: 4, zero_stage: 3}\nschedule: 1f1b\n"
         "training: {micro_batch: 2, micro_batches: 16, seq_length: 4096, precision: bf16}\n"
         "framework: deepspeed\n"}};
    return all;
}

/// Whichever tier is the slowest, more of it is better.
TEST(Tiers, AWiderCardNeverLengthensAStep) {
    for (const TieredJob& job : tiered_jobs()) {
        double before = 0;
        for (const int gigabits :
             {6400, 3200, 1600, 1200, 800, 600, 500, 450, 420, 400, 380, 350, 300, 200, 100}) {
            const scenarios::Scenario scenario = scenarios::parse_scenario(
                job.text, "job.yaml",
                {{"cluster.network.nic_bandwidth", std::to_string(gigabits) + " Gb/s"}});
            PredictOptions options;
            options.play_allocator = false;
            const double step = predict(scenario, options).prediction.step_time_s;
            EXPECT_GE(step, 0.997 * before) << job.name << ", " << gigabits << " Gb/s";
            before = step;
        }
    }
}

/// Every tier is busy for as long as the price of the collective says.
TEST(Tiers, AreEachOccupiedForTheirOwnShare) {
    const scenarios::Scenario scenario =
        scenarios::parse_scenario(tiered_jobs().front().text, "job.yaml");
    const Topology topology(scenario);
    CollectiveCost cost;
    cost.latency = Duration{5'000};
    cost.transfer = Duration{1'000'000};
    cost.busy = {0, 0.25e-3, 1e-3, 0};
    const Rank rank{0};
    const Flow flow = topology.collective(cost, Bytes{123}, {&rank, 1});
    EXPECT_EQ(flow.latency, cost.latency);
    ASSERT_EQ(flow.also.size(), 1U);
    const auto busy = [&](Bytes bytes, Link link) {
        return static_cast<double>(bytes.count) / topology.links()[link].value;
    };
    EXPECT_NEAR(busy(flow.bytes, flow.links.front()), 1e-3, 1e-9);
    EXPECT_NEAR(busy(flow.also.front().bytes, flow.also.front().links.front()), 0.25e-3, 1e-9);
    EXPECT_NE(flow.links, flow.also.front().links);

    // Two groups one after the other, each slow on another tier, take longer than either tier is
    // busy.
    const CollectiveCost two = cost + CollectiveCost{{}, Duration{1'000'000}, {0, 1e-3, 0.5e-3, 0}};
    const Flow both = topology.collective(two, Bytes{}, {&rank, 1});
    EXPECT_EQ(both.latency, cost.latency + Duration{500'000});
    EXPECT_NEAR(busy(both.bytes, both.links.front()), 1.5e-3, 1e-9);
}

}  // namespace
}  // namespace debubble::sim
