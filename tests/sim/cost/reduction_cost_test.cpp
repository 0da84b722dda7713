#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cost/passes/data_parallel.h"
#include "sim/cost/passes/sharding_time.h"
#include "sim/network/max_min.h"
#include "sim/network/topology.h"
#include "tests/sim/physical_models.h"

namespace debubble::sim {
namespace {

TEST(PhysicalCostModel, ReducesExpertsOverTheRanksThatHaveThem) {
    const auto scenario = mixture_job(4, 2);
    models::Execution how;
    how.seq_length = 2048;
    how.tensor = how.expert_tensor = 2;
    how.expert = 4;
    how.sequence_parallel = true;
    const models::ParameterCount held =
        models::build_stage(scenario.model, how, {0, 4, true, true}).parameter_count();
    EXPECT_EQ(held.expert, 4 * 2 * 3 * 4096 * 16384 / 2);
    const auto takes = [&](std::int64_t elements, const GroupPlacement& group) {
        return seconds(
            collective_cost(CollectiveKind::AllReduce, Bytes{4 * elements}, group, scenario.cluster)
                .total());
    };
    EXPECT_EQ(expert_gradient_group(scenario, 0).size, 2);
    EXPECT_NEAR(reduce_seconds(scenario),
                takes(held.dense, gradient_group(scenario, 0)) +
                    takes(held.expert, expert_gradient_group(scenario, 0)),
                1e-7);
    // Of an expert that nobody else has, nothing is reduced.
    EXPECT_EQ(expert_gradient_group(mixture_job(8, 2), 0).size, 1);
    EXPECT_LT(reduce_seconds(mixture_job(8, 2)), reduce_seconds(scenario));
}

TEST(PhysicalCostModel, ReducesGradientsOverTheCardsThatGroupsShare) {
    // Eight tensor ranks in each of four nodes: eight rings share eight cards.
    const auto scenario = gpt_job(8, 4, 1);
    const auto model = price(scenario);
    const std::array holder{Rank{0}};
    const Flow flow = model->reduce_grad(Stage{0}, holder);
    const double ring = 2 * 3.0 / 4 * static_cast<double>(flow.payload.count);
    const double cards = 8 * 12.5e9 * 0.84;
    EXPECT_NEAR(alone(flow, *model) - seconds(flow.latency), ring * 8 / cards, 1e-6);
}

TEST(PhysicalCostModel, FoldsTheGroupsOfANodeIntoOne) {
    // The same eight rings, each with its own flow over a pool of all cards.
    const auto scenario = gpt_job(8, 4, 1);
    const auto model = price(scenario);
    const std::array holder{Rank{0}};
    const Flow folded = model->reduce_grad(Stage{0}, holder);
    const double ring = 2 * 3.0 / 4 * static_cast<double>(folded.payload.count);
    const std::vector<double> pool{8 * 12.5e9 * 0.84};
    const std::vector<FlowLinks> unfolded(8, FlowLinks{0});
    std::vector<double> rates(8);
    max_min_rates(pool, unfolded, rates);
    for (const double rate : rates)
        EXPECT_NEAR(ring / rate, alone(folded, *model) - seconds(folded.latency), 1e-6);
}

TEST(PhysicalCostModel, ReductionGrowsWithReplicasAndBytes) {
    double last = 0;
    for (const int data : {2, 4, 8, 16, 32}) {
        const double takes = reduce_seconds(gpt_job(8, data, 1));
        EXPECT_GT(takes, last);
        last = takes;
    }
    EXPECT_GT(reduce_seconds(gpt_job(8, 4, 1, 48)), reduce_seconds(gpt_job(8, 4, 1, 24)));
}

TEST(PhysicalCostModel, ShardedReductionIsTheFirstHalf) {
    auto scenario = gpt_job(8, 8, 1);
    scenario.training.precision.grads = models::DataType::Bf16;  // as wide as parameters
    const double whole = reduce_seconds(scenario);
    scenario.parallel.zero_stage = 1;
    const auto model = price(scenario);
    const double gather = alone(model->unshard(Stage{0}, Rank{0}), *model);
    EXPECT_NEAR(reduce_seconds(scenario) + gather,
                whole + seconds(scenario.cluster.node_link.base_latency), 1e-6);
}

TEST(PhysicalCostModel, OverlapLeavesTheLastBucketAndWhatTheBackwardDoesNotCover) {
    auto scenario = gpt_job(8, 8, 1);
    const double all = reduce_seconds(scenario);
    const std::array holder{Rank{0}};
    const Bytes bytes = price(scenario)->reduce_grad(Stage{0}, holder).bytes;
    scenario.framework.overlap_grad_reduce = true;
    const auto model = price(scenario);
    const double backward =
        seconds(model->compute({Pass::Backward, Stage{0}, {}}, Rank{0}).duration);
    const Flow left = model->reduce_grad(Stage{0}, holder);
    const HiddenPart hidden = model->reduce_grad_hidden(Stage{0}, holder);
    EXPECT_EQ(left.bytes + hidden.flow.bytes, bytes) << "no byte is lost";
    EXPECT_NEAR(alone(left, *model) + alone(hidden.flow, *model), all, 1e-8);
    // The last of 16 buckets of 40 million elements waits for the end of the backward.
    EXPECT_NEAR(alone(left, *model), all / 16, 1e-8);
    EXPECT_NEAR(seconds(hidden.overlap), backward * 15 / 16, 1e-8);
    scenario.framework.grad_bucket = Bytes{std::int64_t{1} << 50};  // a single one
    EXPECT_NEAR(reduce_seconds(scenario), all, 1e-9);
    EXPECT_FALSE(price(scenario)->reduce_grad_hidden(Stage{0}, holder).any());
}

/// What is hidden takes multiprocessors from the backward that hides it.
TEST(PhysicalCostModel, NothingIsHiddenForNothing) {
    auto scenario = gpt_job(8, 8, 1);
    scenario.framework.overlap_grad_reduce = true;
    const double free = reduce_seconds(scenario);
    scenario.framework.overlap_grad_reduce = false;
    const double all = reduce_seconds(scenario);
    scenario.framework.overlap_grad_reduce = true;
    scenario.framework.collective_sms = 27;
    const auto model = price(scenario);
    const std::array holder{Rank{0}};
    const HiddenPart hidden = model->reduce_grad_hidden(Stage{0}, holder);
    const double beside = std::min(models::laws().exchange_stretch * alone(hidden.flow, *model),
                                   seconds(hidden.overlap));
    EXPECT_GT(beside, 0);
    EXPECT_NEAR(reduce_seconds(scenario) - free, beside * 27 / scenario.cluster.gpu.sms,
                1e-3 * all);
}

/// Kernels that overlap a collective lack its multiprocessors, and have the clock that the power of
/// those leaves: of a device whose clock is held at four fifths by its power, a fifth of the
/// multiprocessors costs nothing.
TEST(PhysicalCostModel, MultiprocessorsThatPowerHoldsBackAreNotMissed) {
    auto scenario = gpt_job(1, 8, 1);
    scenario.cluster.gpu.sms = 100;
    scenario.framework.collective_sms = 20;
    scenario.cluster.gpu.sustained_clock = 1;
    EXPECT_NEAR(contention_of_replicas(scenario).slowed, 0.2, 1e-12);
    scenario.cluster.gpu.sustained_clock = 0.9;
    EXPECT_NEAR(contention_of_replicas(scenario).slowed, 1 - 0.8 / 0.9, 1e-12);
    scenario.cluster.gpu.sustained_clock = 0.8;
    EXPECT_NEAR(contention_of_replicas(scenario).slowed, 0, 1e-12);
    scenario.cluster.gpu.sustained_clock = 0.7;
    EXPECT_EQ(contention_of_replicas(scenario).slowed, 0);
}

/// A reduction to each owner, one after another: the hops of a ring and the owner's share, as often
/// as there are owners.
TEST(PhysicalCostModel, ReducesOwnerByOwnerInTheClosedForm) {
    for (const int data : {8, 64, 512}) {
        auto scenario = gpt_job(1, data, 1);
        scenario.parallel.zero_stage = 1;
        scenario.framework.grad_reduction = scenarios::GradReduction::Owner;
        const models::ParameterCount held = prices(scenario)->elements(Stage{0});
        const Bytes share{4 * held.dense / data};
        const auto one =
            collective_cost(CollectiveKind::Broadcast, share, gradient_group(scenario, 0),
                            scenario.cluster, CollectiveAlgorithm::Ring);
        ASSERT_TRUE(one);
        const double owners = data * seconds(one->total());
        EXPECT_NEAR(reduce_seconds(scenario), owners, 1e-3 * owners) << data;
        scenario.framework.grad_reduction = scenarios::GradReduction::Bucket;
        EXPECT_LT(reduce_seconds(scenario), owners) << data;
    }
}

/// Each parameter by itself passes one adapter of a node, whatever their number.
TEST(PhysicalCostModel, GathersParameterByParameterThroughOneAdapter) {
    auto scenario = gpt_job(1, 64, 1);
    scenario.parallel.zero_stage = 3;
    scenario.framework.gather = scenarios::Gather::Parameter;
    const PassUse reads{true, false, false, false};
    const auto gathered = [&](const scenarios::Scenario& of) {
        ShardingPrices exchange(of, reads, 4);
        return alone(exchange.gathering(400'000'000, 0, 1));
    };
    scenarios::Cluster narrow = scenario.cluster;
    narrow.network.nics_per_node = 1;
    const double each = seconds(collective_cost(CollectiveKind::AllGather, Bytes{200'000'000},
                                                gradient_group(scenario, 0), narrow)
                                    .total());
    EXPECT_NEAR(gathered(scenario), 4 * each, 1e-6);
    scenario.framework.gather = scenarios::Gather::Unit;
    EXPECT_LT(gathered(scenario), 2 * each);
}

TEST(PhysicalCostModel, NothingIsHiddenOnAProcessor) {
    auto scenario = gpt_job(8, 8, 1);
    scenario.parallel.zero_stage = 1;
    scenario.framework.overlap_grad_reduce = scenario.framework.overlap_param_gather = true;
    const std::array holder{Rank{0}};
    EXPECT_TRUE(price(scenario)->reduce_grad_hidden(Stage{0}, holder).any());
    EXPECT_TRUE(price(scenario)->unshard_hidden(Stage{0}, Rank{0}).any());
    scenario.cluster.gpu.threads = 8;
    const auto processor = price(scenario);
    EXPECT_FALSE(processor->reduce_grad_hidden(Stage{0}, holder).any());
    EXPECT_FALSE(processor->unshard_hidden(Stage{0}, Rank{0}).any());
    const ComputeCost forward = processor->compute({Pass::Forward, Stage{0}, {}}, Rank{0});
    EXPECT_FALSE(forward.communicates());
}

TEST(PhysicalCostModel, GathersAndReducesInsidePassesWhenLayersAreWrapped) {
    auto scenario = gpt_job(1, 8, 1);
    scenario.parallel.zero_stage = 3;
    const auto by_layer = price(scenario);
    const std::array holder{Rank{0}};
    EXPECT_EQ(by_layer->reduce_grad(Stage{0}, holder).bytes, Bytes{});
    scenario.parallel.wrap = scenarios::Wrap::Stage;
    const auto by_stage = price(scenario);
    EXPECT_GT(by_stage->reduce_grad(Stage{0}, holder).bytes, Bytes{});
    EXPECT_GT(memory_of(scenario)->unsharded_bytes(Stage{0}), Bytes{});
}

TEST(PhysicalCostModel, SendsGradientsAndParametersInTheCommunicationType) {
    auto scenario = gpt_job(1, 8, 1);
    scenario.parallel.zero_stage = 1;
    const std::array holders{Rank{0}};
    const auto sent = [&] {
        const auto model = price(scenario);
        return std::array{model->reduce_grad(Stage{0}, holders).payload.count,
                          model->unshard(Stage{0}, Rank{0}).payload.count};
    };
    const auto own = sent();  // fp32 gradients, bf16 parameters
    scenario.parallel.communication_dtype = models::DataType::Fp16;
    EXPECT_EQ(sent(), (std::array{own[0] / 2, own[1]}));
    scenario.parallel.communication_dtype = models::DataType::Fp32;
    EXPECT_EQ(sent(), (std::array{own[0], 2 * own[1]}));
}

/// ZeRO-3 by layer reduces over the replicas of one holder inside the passes; the other holder
/// of a bidirectional pipeline has gradients of its own.
TEST(PhysicalCostModel, ReducesShardedGradientsBetweenTwoHolders) {
    auto scenario = gpt_job(1, 8, 2);
    const std::array both{Rank{0}, Rank{1}};
    const std::array one{Rank{0}};
    const std::int64_t whole = price(scenario)->reduce_grad(Stage{0}, both).payload.count;
    scenario.parallel.zero_stage = 3;
    const auto model = price(scenario);
    EXPECT_EQ(model->reduce_grad(Stage{0}, one).payload, Bytes{});
    const Flow between = model->reduce_grad(Stage{0}, both);
    EXPECT_EQ(between.payload.count, whole / 8);
    EXPECT_GT(alone(between, *model), 0);
}

}  // namespace
}  // namespace debubble::sim
