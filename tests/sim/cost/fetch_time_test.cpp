#include "sim/cost/passes/sharding_time.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "sim/cost/passes/data_parallel.h"
#include "sim/predict.h"
#include "tests/sim/physical_models.h"

/// DeepSpeed's limits of ZeRO-3 in steps and memory.
namespace debubble::sim {
namespace {

constexpr std::int64_t kNoLimit = scenarios::kMostElements;
constexpr auto kParametersClass = static_cast<std::size_t>(MemoryClass::Parameters);

TEST(FetchLanes, HideCommunicationBesideKernels) {
    FetchLanes free(Contention{});
    free.enqueue(2, 7);
    free.run(1.5, 1);
    EXPECT_DOUBLE_EQ(free.now(), 1.5);
    free.await(7);
    EXPECT_DOUBLE_EQ(free.now(), 2);
    free.await(7);
    EXPECT_DOUBLE_EQ(free.now(), 2) << "it is there";
    free.enqueue(1, 1);
    free.enqueue(3, 2);
    free.enqueue(5, 3);
    free.await(2);
    EXPECT_DOUBLE_EQ(free.now(), 6) << "one after the other";
    free.run(10, 0.25);
    free.await_all();
    EXPECT_DOUBLE_EQ(free.now(), 16 + 5 - 2.5) << "three quarters of the time the links are taken";
}

TEST(FetchLanes, TakeForOneExchangeBesideKernelsWhatBothTake) {
    for (const double exchange : {0.5, 3.0, 20.0})
        for (const double taken : {0.0, 0.2, 0.9}) {
            const Contention contention{taken, 1 + taken};
            FetchLanes lanes(contention);
            lanes.enqueue(exchange, 0);
            lanes.run(10, 1);
            lanes.await_all();
            EXPECT_NEAR(lanes.now(), overlapped_seconds(exchange, 10, contention), 1e-12)
                << exchange << " " << taken;
        }
}

/// Every gather of a forward is waited for, and of a backward every gather and the last reduction.
TEST(FetchTime, WithoutPrefetchExposesEveryGather) {
    auto scenario = gpt_job(1, 8, 1);
    scenario.parallel.zero_stage = 3;
    const scenarios::GatherLimits limits{0, kNoLimit, 0, 0, kNoLimit};
    const models::StageGraph graph =
        models::build_stage(scenario.model, scenarios::execution_of(scenario), {0, 4, true, true});
    const models::PassSteps forward = models::forward_steps(graph);
    const FetchPlan plan =
        fetch_plan(scenario, limits, graph, {}, forward, models::backward_steps(graph), true);
    const PassPricer pricer(scenario);
    const GroupPlacement group = gradient_group(scenario, 0);
    double all = 0;
    int gathers = 0;
    for (const FetchVisit& visit : plan.forward.visits) {
        std::int64_t elements = 0;
        for (const int use : visit.uses)
            elements += plan.parameters[static_cast<std::size_t>(use)].elements;
        if (elements == 0) continue;
        ++gathers;
        all += seconds(
            collective_cost(CollectiveKind::AllGather, Bytes{2 * elements}, group, scenario.cluster)
                .total());
    }
    FetchLanes lanes(contention_of_replicas(scenario));
    const ShardingTime time = fetch_time(scenario, plan, plan.forward, pricer.time(forward.kernels),
                                         use_of(Pass::Forward, false), lanes);
    EXPECT_NEAR(time.exposed, all, 1e-6 * all);
    EXPECT_NEAR(time.hidden, 0, 1e-6 * all);
    EXPECT_EQ(time.collectives, gathers);
}

struct Planned {
    double step = 0;
    double exposed = 0;
    Bytes peak;
    Bytes parameters;
};

Planned planned(const std::string& framework, const std::string& parallel = "zero_stage: 3",
                const std::string& precision = "bf16") {
    const Prediction prediction =
        predict(scenarios::parse_scenario(
                    fmt::format("model: {{base: llama3-8b, layers: 12}}\ncluster: hgx-h100\ngpus: "
                                "16\nparallel: {{{}}}\n"
                                "training: {{micro_batch: 1, micro_batches: 2, seq_length: 2048, "
                                "precision: {}}}\nframework: {}\n",
                                parallel, precision, framework),
                    "zero3.yaml"))
            .prediction;
    const RankPrediction& rank = prediction.ranks.front();
    return {prediction.step_time_s, rank.exposed_comm_s, rank.peak_memory,
            rank.memory[kParametersClass]};
}

Planned within(std::int64_t prefetch, std::int64_t live, std::int64_t reuse, std::int64_t whole) {
    return planned(
        fmt::format("{{base: deepspeed, stage3_prefetch_bucket_size: {}, "
                    "stage3_max_live_parameters: {}, stage3_max_reuse_distance: {}, "
                    "stage3_param_persistence_threshold: {}}}",
                    prefetch, live, reuse, whole));
}

TEST(Stage3Limits, WithoutAnyLimitKeepEveryParameterLikeReshardFalse) {
    const Planned kept = planned("deepspeed", "zero_stage: 3, reshard: false");
    const Planned unlimited = within(kNoLimit, kNoLimit, kNoLimit, 0);
    EXPECT_EQ(unlimited.parameters, kept.parameters);
    EXPECT_LE(unlimited.peak, kept.peak);
}

/// The parameters of ZeRO-2, and also the shards that the optimizer's step writes.
TEST(Stage3Limits, ThatLeaveAllParametersWholeHoldThoseOfZero2) {
    const Planned whole = within(0, 0, 0, kNoLimit);
    const Planned zero2 = planned("deepspeed", "zero_stage: 2");
    EXPECT_EQ(whole.parameters.count, zero2.parameters.count + zero2.parameters.count / 16);
    EXPECT_EQ(whole.peak - whole.parameters, zero2.peak - zero2.parameters);
}

TEST(Stage3Limits, OfWhatLivesTakeMemoryForTime) {
    Planned before = within(50'000'000, 0, 0, 0);
    const Planned none = within(0, kNoLimit, 0, 0);
    EXPECT_EQ(before.step, none.step) << "nothing may be gathered ahead";
    EXPECT_EQ(before.peak, none.peak);
    const Planned first = before;
    for (const std::int64_t live : {100'000'000L, 200'000'000L, 500'000'000L, 1'000'000'000L,
                                    2'000'000'000L, 9'000'000'000L}) {
        const Planned now = within(50'000'000, live, 0, 0);
        EXPECT_GE(now.peak, before.peak) << live;
        EXPECT_LE(now.step, before.step * (1 + 1e-5)) << live << ": but for launches";
        before = now;
    }
    EXPECT_GT(before.peak, first.peak);
    EXPECT_LT(before.step, 0.95 * first.step);
}

TEST(Stage3Limits, OfReuseTakeMemoryForTime) {
    Planned before = within(0, kNoLimit, 0, 0);
    for (const std::int64_t reuse : {1'000'000'000L, 4'000'000'000L, 100'000'000'000L}) {
        const Planned now = within(0, kNoLimit, reuse, 0);
        EXPECT_GE(now.parameters, before.parameters) << reuse;
        EXPECT_LT(now.step, before.step) << reuse;
        EXPECT_LT(now.exposed, before.exposed) << reuse;
        before = now;
    }
}

/// What stays whole is gathered once per step.
TEST(Stage3Limits, GatherWhatStaysWholeAfterTheStep) {
    auto scenario = gpt_job(1, 8, 1);
    scenario.parallel.zero_stage = 3;
    scenario.framework.stage3.param_persistence_threshold = 0;
    const Duration without = price(scenario)->optimizer_step(Rank{0});
    EXPECT_EQ(prices(scenario)->whole_elements_of(Rank{0}).total(), 0);
    scenario.framework.stage3.param_persistence_threshold = 16384;
    const std::int64_t small = 24 * 13 * 4096 + 2 * 4096;
    EXPECT_EQ(prices(scenario)->whole_elements_of(Rank{0}).total(), small);
    EXPECT_EQ(price(scenario)->optimizer_step(Rank{0}) - without,
              collective_cost(CollectiveKind::AllGather, Bytes{2 * small},
                              gradient_group(scenario, 0), scenario.cluster)
                  .total());
}

TEST(Stage3Limits, ArePlannedWhereDeepspeedHasThem) {
    auto scenario = gpt_job(1, 8, 1);
    scenario.parallel.zero_stage = 3;
    EXPECT_FALSE(scenarios::gather_limits(scenario)) << "no limit is given";
    scenario.framework.stage3.max_live_parameters = 7;
    ASSERT_TRUE(scenarios::gather_limits(scenario));
    scenarios::GatherLimits others;
    others.live = 7;
    EXPECT_EQ(scenarios::gather_limits(scenario), others) << "the others are DeepSpeed's defaults";
    for (auto change : {+[](scenarios::Parallel& p) { p.zero_stage = 2; },
                        +[](scenarios::Parallel& p) { p.pipeline = 2; },
                        +[](scenarios::Parallel& p) { p.wrap = scenarios::Wrap::Stage; },
                        +[](scenarios::Parallel& p) { p.reshard = false; }}) {
        auto other = scenario;
        change(other.parallel);
        EXPECT_FALSE(scenarios::gather_limits(other));
    }
}

TEST(Stage3Limits, PlanTheLiveElementsOfDeepspeedsDefaults) {
    const Planned of_defaults = planned("deepspeed");
    const Planned given = within(50'000'000, 1'000'000'000, 1'000'000'000, 100'000);
    EXPECT_EQ(of_defaults.step, given.step);
    EXPECT_EQ(of_defaults.peak, given.peak);
}

}  // namespace
}  // namespace debubble::sim
