#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/operators/kernel.h"
#include "scenarios/read/read_scenario.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/cost/stage_price.h"
#include "sim/network/collective_cost.h"

/// The time for which all-to-alls of experts wait for the last of their ranks.
namespace debubble::sim {
namespace {

scenarios::Scenario experts_over_two_nodes(const std::string& nic) {
    return scenarios::parse_scenario(
        "model: qwen3-30b-a3b\ncluster: hgx-h100\ngpus: 16\n"
        "parallel: {expert: 16, expert_tensor: 1, zero_stage: 1}\nschedule: 1f1b\n"
        "training: {micro_batches: 4, micro_batch: 1, seq_length: 4096}\n"
        "framework: megatron-2026\n",
        "experts.yaml", {{"cluster.network.nic_bandwidth", nic}});
}

/// A forward of all layers, and the time of its all-to-alls by their bytes alone.
struct Forward {
    PassTime time;
    double exchanges = 0;
};
Forward forward_of(const scenarios::Scenario& scenario) {
    const FoldedStage stage =
        folded_stage(scenario, {0, scenario.model.layers.count(), true, true}, 0);
    const std::vector<models::Kernel> kernels = models::steps_of(stage.graph, false)[0].kernels;
    Forward forward{PassPricer(scenario).time(kernels, stage.fold)};
    for (const models::Kernel& kernel : kernels) {
        const auto* exchange = std::get_if<models::Collective>(&kernel.work);
        if (exchange == nullptr || !exchange->is_expert_exchange()) continue;
        const CollectiveCost cost = expert_all_to_all_cost(
            {exchange->bytes, *exchange->routing, scenario.framework.kernels.dispatcher},
            expert_group(scenario, 0), scenario.cluster);
        forward.exchanges += (kernel.layer == stage.fold.layer ? stage.fold.times : 1) *
                             exchange->count * seconds(cost.total());
    }
    return forward;
}

/// A rank is late because of its computes, however long its all-to-all takes.
TEST(ExpertWaits, DoNotGrowWithTheLengthOfAnExchange) {
    const Forward fast = forward_of(experts_over_two_nodes("400 Gb/s"));
    const Forward slow = forward_of(experts_over_two_nodes("0.1 Gb/s"));
    EXPECT_GT(fast.time.waits, 0);
    EXPECT_GE(slow.time.waits, fast.time.waits * (1 - 1e-9));
    const double late = waits_for_ranks(16).of_kernels * (slow.time.layers + slow.time.ends);
    EXPECT_LE(slow.time.waits, late * (1 + 1e-9));
    EXPECT_GE(slow.time.waits, late * (1 - 1e-9)) << "each kernel counts once";
    EXPECT_GT(slow.exchanges, 1000 * fast.exchanges);
    const auto all = static_cast<std::size_t>(scenarios::Exchange::ExpertAllToAll);
    EXPECT_NEAR(slow.time.exchanges[all].seconds, slow.exchanges + slow.time.waits,
                1e-6 * slow.exchanges);
    EXPECT_LT(slow.time.exchanges[all].seconds, 1.001 * slow.exchanges);
}

/// The all-to-all of one node is shorter than the delay of its last rank could be.
TEST(ExpertWaits, AreAShareOfAShortExchange) {
    const scenarios::Scenario scenario = scenarios::parse_scenario(
        "model: mixtral-8x7b\ncluster: nvl72-gb300\ngpus: 8\n"
        "parallel: {expert: 8, expert_tensor: 1, zero_stage: 1}\nschedule: 1f1b\n"
        "training: {micro_batches: 4, micro_batch: 1, seq_length: 4096}\n"
        "framework: megatron-2026\n",
        "experts.yaml");
    const Forward forward = forward_of(scenario);
    EXPECT_NEAR(forward.time.waits, waits_for_ranks(8).of_exchange * forward.exchanges,
                1e-6 * forward.exchanges);
    EXPECT_LT(forward.time.waits, waits_for_ranks(8).of_kernels * forward.time.layers);
}

}  // namespace
}  // namespace debubble::sim
