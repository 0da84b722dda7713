#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "models/graph/operator_runs.h"
#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "sim/cost/kernels/kernel_cost.h"
#include "sim/cost/kernels/launches.h"
#include "sim/cost/passes/data_parallel.h"
#include "sim/cost/passes/sharding_time.h"
#include "tests/sim/physical_models.h"

/// What a framework's keys do to times: pieces of products, graphs, shards with copies, FSDP.
namespace debubble::sim {
namespace {

constexpr ScheduledPasses kPasses{true, true, false, false};

StagePrice price_of(const scenarios::Scenario& scenario) {
    const PassPricer pricer(scenario);
    const models::StageContent layers{0, std::min(6, scenario.model.layers.count()), false, false};
    return {scenario, pricer, layers, 0, kPasses};
}

/// With sequence parallelism a layer gathers twice and scatters twice.
TEST(TensorOverlap, LeavesTheFirstPieceOfAGatherAndTheLastOfAReduction) {
    auto scenario = gpt_job(8, 1, 1);
    scenario.parallel.sequence = true;
    const double all = seconds(price_of(scenario).of(Pass::Forward).exposed);
    scenario.framework.tensor_overlap = true;
    const double left = seconds(price_of(scenario).of(Pass::Forward).exposed);
    EXPECT_LT(left, all);
    // Products that take for ever hide all but those pieces: an eighth of a gather, a quarter of a
    // reduction, which take as long as each other; the reduction's kernels take
    // multiprocessors for as long as they overlap the GEMM.
    scenario.cluster.gpu.gemm_efficiency = 0.001;
    const Contention both = contention_of(scenario.cluster.gpu, models::laws().nccl_sms);
    EXPECT_NEAR(both.slowed, 16.0 / scenario.cluster.gpu.sms, 1e-12);
    const double reduction = 1. / 4 + 3. / 4 * both.slowed * both.stretch;
    EXPECT_NEAR(seconds(price_of(scenario).of(Pass::Forward).exposed) / all,
                (1. / 8 + reduction) / 2, 1e-6);
}

TEST(TensorOverlap, HidesCommunicationBehindNoKernelTwice) {
    for (const bool overlaps : {false, true}) {
        auto scenario = gpt_job(8, 1, 1);
        scenario.parallel.sequence = true;
        scenario.framework.tensor_overlap = overlaps;
        const PassPricer pricer(scenario);
        const auto graph = models::build_stage(scenario.model, scenarios::execution_of(scenario),
                                               {0, 6, false, false});
        for (const models::PassSteps& steps : models::steps_of(graph, false)) {
            const PassTime time = pricer.time(steps.kernels);
            EXPECT_LE(time.hidden, time.layers + time.ends);
        }
    }
}

/// PyTorch gathers along the batch and copies the whole into the order of the sequence; two gathers
/// and two reductions a layer, each copy reading and writing T x h of 16 bits.
TEST(TensorOverlap, SparesTheCopiesThatPutASequenceInOrder) {
    auto scenario = gpt_job(8, 1, 1);
    const auto kernels = [&](bool sequence, bool copies, bool overlaps) {
        scenario.parallel.sequence = sequence;
        scenario.framework.copies_along_sequence = copies;
        scenario.framework.tensor_overlap = overlaps;
        const auto graph = models::build_stage(scenario.model, scenarios::execution_of(scenario),
                                               {0, 6, false, false});
        return PassPricer(scenario).time(models::forward_steps(graph).kernels).layers;
    };
    const Bytes whole{2 * scenario.training.micro_batch * scenario.training.seq_length *
                      scenario.model.hidden};
    const double copy = seconds(kernel_time(models::Traffic{whole, whole}, scenario.cluster.gpu));
    EXPECT_NEAR(kernels(true, true, false) - kernels(true, false, false), 6 * 4 * copy, 1e-6);
    EXPECT_DOUBLE_EQ(kernels(true, true, true), kernels(true, false, true));
    // What is reduced to all is not cut along the sequence.
    EXPECT_DOUBLE_EQ(kernels(false, true, false), kernels(false, false, false));
}

TEST(CudaGraphs, TakeAwayTheLaunchesOfTheirScope) {
    const auto scenario = mixture_job(4, 1);
    const auto graph =
        models::build_stage(scenario.model, scenarios::execution_of(scenario), {0, 4, true, true});
    const auto launches = [&](std::initializer_list<scenarios::GraphScope> scopes) {
        scenarios::CudaGraphs graphs;
        for (const auto scope : scopes) graphs.scopes[static_cast<std::size_t>(scope)] = true;
        return launches_of(graph, {}, graphs, Pass::Backward).kernels;
    };
    using enum scenarios::GraphScope;
    const int all = launches({});
    const int layers = all - launches({Layer});
    EXPECT_LT(layers, all) << "embedding and head are launched one by one";
    EXPECT_EQ(layers, 4 * all - launches({Attention}) - launches({MoeRouter}) -
                          launches({MoePreprocess}) - launches({Moe}));
    EXPECT_EQ(launches({Mlp}), all) << "no layer has a dense MLP";
    scenarios::CudaGraphs whole;
    whole.full_iteration = true;
    EXPECT_EQ(launches_of(graph, {}, whole, Pass::Forward).kernels, 0);
}

/// Two products forward; without tensor parallelism of experts one rank of four has two of eight.
TEST(GroupedProducts, AreLaunchedExpertByExpert) {
    const auto further = [](int expert, Pass pass) {
        const auto scenario = mixture_job(expert, 1);
        const auto graph = models::build_stage(scenario.model, scenarios::execution_of(scenario),
                                               {0, 4, false, false});
        return launches_of(graph, {}, {}, pass).experts;
    };
    EXPECT_EQ(further(4, Pass::Forward), 4 * 2);
    EXPECT_EQ(further(1, Pass::Forward), 7 * further(4, Pass::Forward));
    EXPECT_EQ(further(8, Pass::Forward), 0);
    EXPECT_EQ(further(4, Pass::Backward), 2 * further(4, Pass::Forward));
}

/// The bytes that a step sends over its cards: a reduction inside groups of eight, then one of an
/// eighth between them.
TEST(Shards, WithCopiesReduceInsideAndThenBetweenThem) {
    auto scenario = gpt_job(1, 32, 1);
    scenario.parallel.zero_stage = 1;
    const double over_all = reduce_seconds(scenario);
    scenario.parallel.shard = 8;
    EXPECT_EQ(scenario.parallel.copies(), 4);
    const double in_groups = reduce_seconds(scenario);
    EXPECT_NE(in_groups, over_all);
    const std::int64_t elements = prices(scenario)->elements(Stage{0}).dense;
    const auto cost = [&](CollectiveKind kind, std::int64_t bytes, ReplicaGroup which) {
        return seconds(collective_cost(kind, Bytes{bytes}, gradient_group(scenario, 0, which),
                                       scenario.cluster)
                           .total());
    };
    EXPECT_NEAR(in_groups,
                cost(CollectiveKind::ReduceScatter, 4 * elements, ReplicaGroup::Shards) +
                    cost(CollectiveKind::AllReduce, 4 * elements / 8, ReplicaGroup::Copies),
                1e-2 * in_groups);
    EXPECT_EQ(gradient_group(scenario, 0, ReplicaGroup::Shards).nodes, 1);
    EXPECT_EQ(gradient_group(scenario, 0, ReplicaGroup::Copies).nodes, 4);
}

TEST(Shards, OfFewerReplicasHoldMore) {
    auto scenario = gpt_job(1, 32, 1);
    scenario.parallel.zero_stage = 3;
    const auto held = [&] { return total(memory_of(scenario)->static_memory(Rank{0})); };
    const Bytes over_all = held();
    scenario.parallel.shard = 8;
    const Bytes over_eight = held();
    EXPECT_NEAR(static_cast<double>(over_eight.count) / static_cast<double>(over_all.count), 4,
                0.01);
    scenario.parallel.reshard = false;
    EXPECT_EQ((held() - over_eight).count, 2 * prices(scenario)->elements(Stage{0}).total());
}

TEST(ShardedPasses, RunBesideKernelsForWhatBothTake) {
    const Contention none;
    const Contention both_slow{0.2, 1.5};
    EXPECT_DOUBLE_EQ(overlapped_seconds(2, 3, none), 3) << "who takes nothing costs nothing";
    EXPECT_DOUBLE_EQ(overlapped_seconds(4, 3, none), 4);
    EXPECT_DOUBLE_EQ(overlapped_seconds(1, 10, both_slow), 10 + 0.2 * 1.5);
    // Kernels end after 10 / 0.8 and have let through that much less of the communication.
    EXPECT_DOUBLE_EQ(overlapped_seconds(20, 10, both_slow), 12.5 + 20 - 12.5 / 1.5);
    EXPECT_DOUBLE_EQ(slowed_by(1, 10, both_slow), 0.2 * 1.5);
    EXPECT_DOUBLE_EQ(slowed_by(20, 10, both_slow), 0.2 * 10) << "no longer than kernels run";
    double last = 0;
    for (double communication = 0; communication < 30; communication += 0.5) {
        const double both = overlapped_seconds(communication, 10, both_slow);
        EXPECT_GE(both, last);
        EXPECT_GE(both, std::max(communication, 10.0));
        EXPECT_LE(both, 10 / 0.8 + communication);
        last = both;
    }
}

/// Every layer after the first overlaps the gather of the next, or that and the
/// reduction of the one before.
TEST(ShardedPasses, TakeTheClosedFormOfFsdp2) {
    auto scenario = gpt_job(1, 8, 1);
    scenario.parallel.zero_stage = 3;
    scenario.framework.casts_shards = true;
    scenario.framework.collective_sms = 27;
    PassTime time;
    time.layers = 6 * 0.010;
    ShardedUnits units;
    units.layers = 6;
    units.layer = 200'000'000;
    const auto exposed = [&](bool backward) {
        return sharding_time(scenario, units, time, {true, backward, false, false});
    };
    const auto seconds_of = [&](CollectiveKind kind, std::int64_t bytes) {
        return seconds(
            collective_cost(kind, Bytes{bytes}, gradient_group(scenario, 0), scenario.cluster)
                .total());
    };
    const double gather = seconds_of(CollectiveKind::AllGather, 2 * units.layer);
    const double reduce = seconds_of(CollectiveKind::ReduceScatter, 4 * units.layer);
    const Contention contention = contention_of_replicas(scenario);
    const auto left = [&](double exchange, const ShardingTime& of) {
        const double kernels = 0.010 + of.copies / 6;
        return 5 * (overlapped_seconds(exchange, kernels, contention) - kernels);
    };
    const ShardingTime forward = exposed(false);
    EXPECT_NEAR(forward.exposed, gather + left(gather, forward), 1e-9);
    const ShardingTime backward = exposed(true);
    EXPECT_NEAR(backward.exposed, gather + reduce + left(gather + reduce, backward), 1e-9);
    // A cast and two copies of the shard, a copy of the whole; the gradients' copy.
    const auto bandwidth = effective_memory_bandwidth(scenario.cluster.gpu).value;
    EXPECT_NEAR(forward.copies, 6 * 200e6 * (10.0 / 8 + 4) / bandwidth, 1e-9);
    EXPECT_NEAR(backward.copies - forward.copies, 6 * 200e6 * 6 / bandwidth, 1e-9);
}

TEST(ShardedPasses, AreNeverFasterOnMoreNodes) {
    double before = 0;
    for (const int data : {8, 16, 64, 256}) {
        auto scenario = gpt_job(1, data, 1);
        scenario.parallel.zero_stage = 3;
        const double now = seconds(price_of(scenario).of(Pass::Backward).duration);
        EXPECT_GE(now, before) << data;
        before = now;
    }
}

/// The activation and the casts on its two sides are parts of the GEMMs next to it.
TEST(FusedExperts, LaunchAndMoveLess) {
    const auto job = [](const std::string& more) {
        return scenarios::parse_scenario(
            "{model: qwen3-30b-a3b, cluster: nvl72-gb200, gpus: 8, parallel: {expert: 8, tensor: "
            "1, "
            "zero_stage: 1}, training: {global_batch: 64, seq_length: 4096, precision: mxfp8}, "
            "framework: {base: megatron-2026, dispatcher: hybridep" +
                more + "}}",
            "job.yaml");
    };
    const auto counts = [&](const scenarios::Scenario& scenario) {
        const auto graph = models::build_stage(scenario.model, scenarios::execution_of(scenario),
                                               {0, 1, false, false});
        int activations = 0;
        int casts = 0;
        for (const models::Operator& op : graph.operators)
            for (const auto* part : {&op.forward, &op.backward_input})
                for (const models::Kernel& kernel : *part) {
                    activations += kernel.name.starts_with("experts.act");
                    casts += kernel.name.starts_with("experts.") && kernel.name.ends_with(".cast");
                }
        const Launches launches = launches_of(graph, {}, {}, Pass::Forward);
        return std::array{activations, casts, launches.experts};
    };
    const auto apart = counts(job(", fused_experts: false"));
    const auto fused = counts(job(", fused_experts: true"));
    EXPECT_EQ(apart[0], 2);
    EXPECT_EQ(fused[0], 0);
    EXPECT_EQ(apart[1] - fused[1], 2) << "of the activation's result, and of its input's gradient";
    EXPECT_GT(apart[2], 0);
    EXPECT_EQ(fused[2], 0);
    const auto step = [](const scenarios::Scenario& scenario) {
        return price_of(scenario).of(Pass::Forward).duration;
    };
    EXPECT_LT(step(job(", fused_experts: true")), step(job(", fused_experts: false")));
}

TEST(FusedExperts, ComeWithTheirRelease) {
    const auto fuses = [](const std::string& release, const char* precision, const char* cluster) {
        return scenarios::execution_of(
                   scenarios::parse_scenario(
                       std::string("{model: qwen3-30b-a3b, cluster: ") + cluster +
                           ", gpus: 8, parallel: {expert: 8, tensor: 1}, training: {global_batch: "
                           "64, "
                           "precision: " +
                           precision + "}, framework: {base: megatron-2026" + release + "}}",
                       "job.yaml"))
            .kernels.fused_experts;
    };
    EXPECT_TRUE(fuses(", release: nemo 26.06.01", "mxfp8", "nvl72-gb200"));
    EXPECT_FALSE(fuses(", release: nemo 26.04.01", "mxfp8", "nvl72-gb200"));
    EXPECT_FALSE(fuses("", "mxfp8", "nvl72-gb200"));
    EXPECT_FALSE(fuses(", release: nemo 26.06", "bf16", "nvl72-gb200"));
    EXPECT_FALSE(fuses(", release: nemo 26.06", "fp8-current", "hgx-h100"));
}

TEST(AttentionKernel, IsOfItsRelease) {
    const auto kernel = [](const std::string& framework) {
        return scenarios::execution_of(
                   scenarios::parse_scenario(
                       "{model: llama3-8b, cluster: hgx-h100, nodes: 1, parallel: "
                       "{tensor: 1}, training: {global_batch: 64}, framework: " +
                           framework + "}",
                       "job.yaml"))
            .kernels.attention_kernel;
    };
    using models::FusedAttention;
    EXPECT_EQ(kernel("megatron-2024"), FusedAttention::Cudnn2024);
    EXPECT_EQ(kernel("{base: megatron-2024, release: nemo 25.02}"), FusedAttention::Cudnn);
    EXPECT_EQ(kernel("megatron-2026"), FusedAttention::Cudnn);
    EXPECT_EQ(kernel("{base: megatron-2026, release: nemo 24.12}"), FusedAttention::Cudnn2024);
}

TEST(Capacity, BoundsTheRowsOfTheFullestRank) {
    auto scenario = mixture_job(4, 1);
    scenario.training.expert_load = 1.5;
    scenario.framework.capacity_factor = 4;
    const Duration all = price_of(scenario).of(Pass::Forward).duration;
    scenario.framework.capacity_factor = 1.5;
    EXPECT_EQ(price_of(scenario).of(Pass::Forward).duration, all);
    scenario.framework.capacity_factor = 1;
    EXPECT_LT(price_of(scenario).of(Pass::Forward).duration, all);
}

}  // namespace
}  // namespace debubble::sim
