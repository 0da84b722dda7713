#include "sim/cost/physical_models.h"

#include <gtest/gtest.h>

#include "sim/network/topology.h"
#include "tests/sim/physical_models.h"

namespace debubble::sim {
namespace {

constexpr Message kFirst{Message::Kind::Activation, Stage{0}, {}};

TEST(PhysicalCostModel, SendsAPieceOverEachCardAndGathersIt) {
    auto scenario = gpt_job(8, 1, 2);
    const auto scattered = price(scenario);
    scenario.framework.point_to_point = scenarios::PointToPoint::Full;
    const auto full = price(scenario);
    const Bytes boundary{2 * 2048 * 4096};
    const Flow piece = scattered->transfer(kFirst, Rank{0}, Rank{1});
    EXPECT_EQ(piece.payload, boundary);
    EXPECT_EQ(memory_of(scenario)->message(kFirst), boundary) << "whole, on either side";
    EXPECT_EQ(piece.bytes.count, boundary.count / 8);
    EXPECT_EQ(full->transfer(kFirst, Rank{0}, Rank{1}).bytes, boundary);
    // A card of 12.5 GB/s at 81 %, and the gather over NVLink.
    const double on_card = static_cast<double>(boundary.count) / 8 / (12.5e9 * 0.84);
    const GroupPlacement eight = tensor_group(scenario, 0);
    const double gather = seconds(
        collective_cost(CollectiveKind::AllGather, boundary, eight, scenario.cluster).total());
    EXPECT_NEAR(alone(piece, *scattered), 120e-6 + on_card + gather, 1e-8);
    EXPECT_LT(alone(piece, *scattered), alone(full->transfer(kFirst, Rank{0}, Rank{1}), *full));
}

TEST(PhysicalCostModel, StaysInTheNodeWhereItCan) {
    const auto inside = price(gpt_job(1, 1, 2));
    const auto across = price(gpt_job(8, 1, 2));
    const Flow near = inside->transfer(kFirst, Rank{0}, Rank{1});
    EXPECT_LT(near.latency, Duration{120'000});
    EXPECT_LT(static_cast<double>(near.bytes.count) / 190e9, alone(near, *inside));
    EXPECT_GE(across->transfer(kFirst, Rank{0}, Rank{1}).latency, Duration{120'000});
}

TEST(PhysicalCostModel, WholeExpertsInANodeExchangeFasterThanCutOnesAcross) {
    const auto exposed = [](const scenarios::Scenario& scenario) {
        const Compute forward{Pass::Forward, Stage{0}, {}};
        return price(scenario)->compute(forward, Rank{0}).exposed;
    };
    EXPECT_LT(exposed(mixture_job(8, 1)), exposed(mixture_job(8, 2)));
    EXPECT_LT(exposed(mixture_job(1, 1)), exposed(mixture_job(8, 1)));
}

TEST(PhysicalCostModel, PassesSendOverLinksThatOthersUseToo) {
    const Compute forward{Pass::Forward, Stage{0}, {}};
    const auto flows = [&](const scenarios::Scenario& scenario) {
        return price(scenario)->compute(forward, Rank{0}).flows;
    };
    EXPECT_EQ(flows(gpt_job(8, 4, 2))[0].bytes, Bytes{}) << "NVLink is theirs alone";
    EXPECT_GT(flows(gpt_job(4, 1, 2))[0].bytes, Bytes{})
        << "as other messages use the node's links";
    EXPECT_GT(flows(gpt_job(4, 2, 1))[0].bytes, Bytes{}) << "as reductions use the node's links";
    auto across = gpt_job(16, 2, 1);
    EXPECT_GT(flows(across)[0].bytes, Bytes{}) << "over the cards";
    auto sharded = gpt_job(1, 16, 2);
    sharded.parallel.zero_stage = 3;
    EXPECT_GT(flows(sharded)[0].bytes, Bytes{}) << "parameters, as messages use the same links";
}

TEST(PhysicalCostModel, LongerSequencesAndLargerBatchesAreNeverFaster) {
    for (const int tensor : {1, 8})
        for (const Pass pass : {Pass::Forward, Pass::Backward}) {
            Duration last{};
            for (const int micro_batch : {1, 2, 3, 4, 8}) {
                auto scenario = gpt_job(tensor, 1, 1);
                scenario.training.micro_batch = micro_batch;
                const auto cost = price(scenario)->compute({pass, Stage{0}, {}}, Rank{0});
                EXPECT_GT(cost.duration, last);
                EXPECT_LE(cost.exposed, cost.duration);
                last = cost.duration;
            }
        }
}

TEST(PhysicalCostModel, SlicesOfASequenceLookBackFurtherAndFurther) {
    auto scenario = gpt_job(1, 1, 2);
    scenario.schedule.slices = 4;
    scenario.training.attention = models::AttentionKernel::Flash;
    const auto model = price(scenario, "seq-1f1b");
    Duration last{};
    for (std::int16_t slice = 0; slice < 4; ++slice) {
        const auto cost = model->compute({Pass::Forward, Stage{0}, MicroBatch{0, slice}}, Rank{0});
        EXPECT_GT(cost.duration, last);
        last = cost.duration;
    }
}

TEST(Topology, PipelineRanksOfANodeShareItsCards) {
    auto scenario = gpt_job(1, 1, 4);
    scenario.cluster.gpus_per_node = 2;
    scenario.cluster.network.nics_per_node = 1;
    const Topology topology(scenario);
    const Flow a = topology.message(Rank{0}, Rank{2}, Bytes{1 << 20}, Duration{});
    const Flow b = topology.message(Rank{1}, Rank{3}, Bytes{1 << 20}, Duration{});
    EXPECT_EQ(a.links, b.links);
    scenario.cluster.network.nics_per_node = 2;
    const Topology rails(scenario);
    EXPECT_NE(rails.message(Rank{0}, Rank{2}, Bytes{1}, Duration{}).links,
              rails.message(Rank{1}, Rank{3}, Bytes{1}, Duration{}).links);
    EXPECT_TRUE(rails.same_node(Rank{0}, Rank{1}));
    EXPECT_FALSE(rails.same_node(Rank{1}, Rank{2}));
}

}  // namespace
}  // namespace debubble::sim
