#include "sim/cost/physical_cost_model.h"

#include <array>
#include <cmath>

#include <gmock/gmock.h>

#include "schedule/generators/generators.h"
#include "sim/cost/kernel_cost.h"
#include "sim/cost/physical_memory_model.h"
#include "sim/network/max_min.h"
#include "sim/network/topology.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

constexpr Message kFirst{Message::Kind::Activation, Stage{0}, {}};

std::vector<models::StageContent> even_stages(const scenarios::Scenario& scenario) {
    const int count = scenario.parallel.pipeline;
    const int layers = scenario.model.layers / count;
    std::vector<models::StageContent> stages;
    for (int s = 0; s < count; ++s) stages.push_back({s * layers, layers, s == 0, s == count - 1});
    return stages;
}

std::shared_ptr<const SchedulePrices> prices(const scenarios::Scenario& scenario,
                                             const char* schedule = "1f1b") {
    return std::make_shared<const SchedulePrices>(scenario, even_stages(scenario),
                                                  generate(schedule, scenario.pipeline_shape()));
}
std::unique_ptr<CostModel> price(const scenarios::Scenario& scenario,
                                 const char* schedule = "1f1b") {
    return make_cost_model(prices(scenario, schedule));
}
std::unique_ptr<MemoryModel> memory_of(const scenarios::Scenario& scenario) {
    return make_memory_model(prices(scenario));
}

/// Of a flow that nobody disturbs.
double alone(const Flow& flow, const CostModel& model) {
    double rate = INFINITY;
    for (const Link link : flow.links) rate = std::min(rate, model.links()[link].value);
    return seconds(flow.latency) +
           (!flow.links.empty() ? static_cast<double>(flow.bytes.count) / rate : 0);
}

double reduce_seconds(const scenarios::Scenario& scenario) {
    const auto model = price(scenario);
    const std::array holder{Rank{0}};
    return alone(model->reduce_grad(Stage{0}, holder), *model);
}

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

/// Four layers of Mixtral's kind on two nodes.
scenarios::Scenario mixture_job(int expert, int expert_tensor) {
    scenarios::Scenario scenario = gpt_job(2, 8, 1, 4);
    scenario.model.family = models::Family::Llama;
    scenario.model.linear_bias = false;
    scenario.model.activation = models::Activation::Swiglu;
    scenario.model.norm = models::Norm::RmsNorm;
    scenario.model.positions = models::Positions::Rope;
    scenario.model.experts = 8;
    scenario.model.experts_per_token = 2;
    scenario.parallel.sequence = true;
    scenario.parallel.expert = expert;
    scenario.parallel.expert_tensor = expert_tensor;
    scenario.training.attention = models::AttentionKernel::Flash;
    return scenario;
}

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

TEST(PhysicalCostModel, StepsTheShareOfExpertsThatFewerRanksHave) {
    auto scenario = mixture_job(4, 2);
    const Duration all = price(scenario)->optimizer_step(Rank{0});
    scenario.parallel.zero_stage = 1;
    const Duration shared = price(scenario)->optimizer_step(Rank{0});
    scenario.parallel.expert = 1;  // the same ranks, every expert on four times as many
    const Duration everywhere = price(scenario)->optimizer_step(Rank{0});
    EXPECT_LT(shared, all);
    EXPECT_NEAR(seconds(everywhere) / seconds(shared), 1, 1e-6)
        << "an eighth of all experts, or half of a quarter";
}

TEST(PhysicalCostModel, WholeExpertsInANodeExchangeFasterThanCutOnesAcross) {
    const auto exposed = [](const scenarios::Scenario& scenario) {
        const Compute forward{Pass::Forward, Stage{0}, {}};
        return price(scenario)->compute(forward, Rank{0}).exposed;
    };
    EXPECT_LT(exposed(mixture_job(8, 1)), exposed(mixture_job(8, 2)));
    EXPECT_LT(exposed(mixture_job(1, 1)), exposed(mixture_job(8, 1)));
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

TEST(PhysicalCostModel, PassesSendOverLinksThatOthersUseToo) {
    const Compute forward{Pass::Forward, Stage{0}, {}};
    const auto flows = [&](const scenarios::Scenario& scenario) {
        return price(scenario)->compute(forward, Rank{0}).flows;
    };
    EXPECT_EQ(flows(gpt_job(8, 4, 2))[0].bytes, Bytes{}) << "NVLink is theirs alone";
    EXPECT_GT(flows(gpt_job(4, 1, 2))[0].bytes, Bytes{}) << "beside messages in the node";
    EXPECT_GT(flows(gpt_job(4, 2, 1))[0].bytes, Bytes{}) << "beside reductions in the node";
    auto across = gpt_job(16, 2, 1);
    EXPECT_GT(flows(across)[0].bytes, Bytes{}) << "over the cards";
    auto sharded = gpt_job(1, 16, 2);
    sharded.parallel.zero_stage = 3;
    EXPECT_GT(flows(sharded)[0].bytes, Bytes{}) << "parameters, beside messages";
}

TEST(PhysicalCostModel, StepsTheOptimizerOverItsShardOnly) {
    auto scenario = gpt_job(1, 8, 1);
    const auto takes = [&] { return seconds(price(scenario)->optimizer_step(Rank{0})); };
    const double whole = takes();
    scenario.parallel.zero_stage = 1;
    EXPECT_NEAR(takes(), whole / 8, 1e-6);
    scenario.training.offload_optimizer = true;
    EXPECT_GT(takes(), whole / 8);
    const MemoryByClass held = memory_of(scenario)->static_memory(Rank{0});
    EXPECT_EQ(held[static_cast<std::size_t>(MemoryClass::Optimizer)], Bytes{});
}

TEST(PhysicalCostModel, OffloadedStatePassesTheHostLinkOnceEachWay) {
    auto scenario = gpt_job(1, 1, 1);
    scenario.framework.optimizer_fixed = {};
    scenario.training.offload_optimizer = true;
    scenario.framework.offload_buffer = Bytes{48 << 20};
    const std::int64_t layer = 12 * 4096LL * 4096 + 13 * 4096;
    const double state = 12.0 * (24 * layer + (51200 + 2048 + 2) * 4096LL);
    const auto model = price(scenario);
    EXPECT_NEAR(seconds(model->optimizer_step(Rank{0})),
                (state + (16 << 20)) / scenario.cluster.gpu.host_link.value, 1e-6);
    EXPECT_EQ(memory_of(scenario)->optimizer_transient(Rank{0}), Bytes{48 << 20});
    scenario.cluster.gpu.threads = 8;  // whose memory is the host's
    const auto processor = price(scenario);
    EXPECT_EQ(memory_of(scenario)->optimizer_transient(Rank{0}), Bytes{});
    const Duration offloaded = processor->optimizer_step(Rank{0});
    scenario.training.offload_optimizer = false;
    EXPECT_EQ(price(scenario)->optimizer_step(Rank{0}), offloaded);
}

/// Parameters of 2 bytes and 12 of their state, read and written once more.
TEST(PhysicalCostModel, CopiesWhatAPostValidatedStepMayHaveToUndo) {
    auto scenario = gpt_job(1, 1, 1);
    scenario.framework.optimizer_fixed = {};
    scenario.framework.post_validation = scenario.framework.rollback_copies = true;
    scenario.schedule.name = "zb-h1";
    const std::int64_t layer = 12 * 4096LL * 4096 + 13 * 4096;
    const auto parameters = static_cast<double>(24 * layer + (51200 + 2048 + 2) * 4096LL);
    const double bandwidth = effective_memory_bandwidth(scenario.cluster.gpu).value;
    const auto takes = [&] { return seconds(price(scenario, "zb-h1")->optimizer_step(Rank{0})); };
    const double without = takes();  // nothing clips
    scenario.training.run.clip_norm = 1;
    EXPECT_NEAR(takes() - without, parameters * 2 * 14 / bandwidth, 1e-6);
    scenario.schedule.name = "1f1b";  // steps once the norm is known
    EXPECT_EQ(takes(), without);
}

TEST(PhysicalCostModel, HoldsEighteenBytesPerParameterInMixedPrecision) {
    auto scenario = gpt_job(1, 1, 1);
    scenario.framework.library_workspace = {};
    const std::int64_t layer = 12 * 4096LL * 4096 + 13 * 4096;
    const std::int64_t parameters = 24 * layer + (51200 + 2048 + 2) * 4096LL;
    EXPECT_EQ(total(memory_of(scenario)->static_memory(Rank{0})).count, 18 * parameters);
}

TEST(PhysicalCostModel, HoldsNoWorkspaceOfAGpusLibraryOnAProcessor) {
    auto scenario = gpt_job(1, 1, 1);
    const auto held = [&] { return total(memory_of(scenario)->static_memory(Rank{0})); };
    const Bytes without = held();
    scenario.framework.library_workspace = Bytes{32 << 20};
    EXPECT_EQ(held(), without + scenario.framework.library_workspace);
    scenario.cluster.gpu.threads = 8;
    EXPECT_EQ(held(), without);
}

/// A forward and a backward, apart and as a pair.
struct Pair {
    ComputeCost forward;
    ComputeCost backward;
    ComputeCost both;
    Duration apart() const { return forward.duration + backward.duration; }
};

Pair pair_in(const scenarios::Scenario& scenario,
             std::initializer_list<scenarios::Exchange> hides = {}) {
    scenarios::Scenario with = scenario;
    for (const scenarios::Exchange exchange : hides)
        with.framework.pair_hides[static_cast<std::size_t>(exchange)] = true;
    const auto model = price(with);
    const Compute forward{Pass::Forward, Stage{0}, {1, {}}};
    const Compute backward{Pass::Backward, Stage{0}, {0, {}}};
    return {model->compute(forward, Rank{0}), model->compute(backward, Rank{0}),
            model->overlap({forward, backward}, Rank{0})};
}

TEST(PhysicalCostModel, APairTakesBothItsPassesWhereItsFrameworkHidesNothing) {
    for (const auto& scenario : {gpt_job(8, 1, 1), mixture_job(8, 1)}) {
        const Pair pair = pair_in(scenario);
        EXPECT_EQ(pair.both.duration, pair.apart());
        EXPECT_EQ(pair.both.exposed, pair.forward.exposed + pair.backward.exposed);
    }
}

TEST(PhysicalMemoryModel, APairHoldsWhatBothItsPassesHold) {
    for (const auto& scenario : {gpt_job(8, 1, 1), mixture_job(8, 1)}) {
        const auto memory = memory_of(scenario);
        const Compute forward{Pass::Forward, Stage{0}, {1, {}}};
        const Compute backward{Pass::Backward, Stage{0}, {0, {}}};
        const PassMemory both = memory->overlap({forward, backward});
        EXPECT_EQ(both.held_after,
                  memory->compute(forward).held_after + memory->compute(backward).held_after);
        EXPECT_EQ(total(both.at_peak), both.peak_above);
    }
}

TEST(PhysicalCostModel, APairHidesOnlyTheExchangesThatItsFrameworkLists) {
    using enum scenarios::Exchange;
    auto mixture = mixture_job(8, 2);  // experts over two nodes, tensor parallelism in each
    mixture.framework.host_forward_layer = mixture.framework.host_backward_layer = {};
    const Pair tokens = pair_in(mixture, {ExpertAllToAll});
    EXPECT_LT(tokens.both.duration, tokens.apart());
    EXPECT_GT(tokens.both.exposed, Duration{}) << "tensor parallelism's stays";
    const Pair all = pair_in(mixture, {ExpertAllToAll, Tensor});
    EXPECT_LT(all.both.exposed, tokens.both.exposed);
    // A dense model has no experts to hide.
    auto dense = gpt_job(8, 1, 1);
    const Pair pair = pair_in(dense, {ExpertAllToAll});
    EXPECT_EQ(pair.both.exposed, pair.forward.exposed + pair.backward.exposed);
    EXPECT_NEAR(seconds(pair.both.duration), seconds(pair.apart()), 1e-3 * seconds(pair.apart()));
}

TEST(PhysicalCostModel, AnExchangeHidesBesideOneBlockOfTheOtherHalf) {
    auto mixture = mixture_job(8, 2);
    mixture.framework.host_forward_layer = mixture.framework.host_backward_layer = {};
    const auto hidden = [&] {
        const Pair pair = pair_in(mixture, {scenarios::Exchange::ExpertAllToAll});
        return seconds(pair.forward.exposed + pair.backward.exposed - pair.both.exposed);
    };
    double last = hidden();
    double kernels = 0;
    for (const double rate : {6e9, 1e9, 1e8}) {  // exchanges far longer than any block
        mixture.cluster.network.nic_bandwidth = {rate};
        const Pair pair = pair_in(mixture);
        kernels = seconds(pair.apart() - pair.forward.exposed - pair.backward.exposed);
        EXPECT_GE(hidden(), last * (1 - 1e-9));
        last = hidden();
    }
    EXPECT_GT(last, 0.5 * kernels);
    EXPECT_LE(last, kernels) << "no kernel hides two exchanges";
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
