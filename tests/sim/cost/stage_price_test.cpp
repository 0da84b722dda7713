#include "sim/cost/stage_price.h"

#include <cmath>

#include <gmock/gmock.h>

#include "scenarios/plan/derived.h"
#include "sim/cost/kernels/launches.h"
#include "sim/memory/pass_memory.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

struct Variant {
    const char* name;
    int tensor;
    bool sequence;
    models::Recompute recompute;
    models::AttentionKernel attention;
    bool embedding;
    bool head;
    int slices = 1;
};

class Folding : public testing::TestWithParam<Variant> {
protected:
    models::StageGraph stage(int layers) const { return stage(layers, GetParam().slices - 1); }
    models::StageGraph stage(int layers, int slice) const {
        const Variant& v = GetParam();
        auto scenario = gpt_job(v.tensor, 1, 1);
        scenario.parallel.sequence = v.sequence;
        scenario.training.recompute = v.recompute;
        scenario.training.attention = v.attention;
        models::Execution how = scenarios::execution_of(scenario);
        how.slices = v.slices;
        how.slice = slice;
        return models::build_stage(scenario.model, how, {4, layers, v.embedding, v.head});
    }
};

/// Three layers, the middle one counted as often as need be, are as many in full.
TEST_P(Folding, ChangesNeitherMemoryNorTime) {
    const auto scenario = gpt_job(GetParam().tensor, 1, 1);
    const PassPricer pricer(scenario);
    const models::StageGraph three = stage(3);
    for (const int layers : {3, 4, 5, 9}) {
        const models::StageGraph all = stage(layers);
        const LayerFold fold{5, layers - 2};
        for (const auto steps_of : {models::forward_steps, models::backward_steps,
                                    models::backward_input_steps, models::backward_weight_steps}) {
            const models::PassSteps folded = steps_of(three);
            const models::PassSteps unfolded = steps_of(all);
            const PassMemory a = play(three, folded, fold);
            const PassMemory b = play(all, unfolded);
            EXPECT_EQ(a.held_after, b.held_after) << layers << " layers";
            EXPECT_EQ(a.peak_above, b.peak_above) << layers << " layers";
            EXPECT_EQ(a.at_peak, b.at_peak) << layers << " layers";
            EXPECT_EQ(total(a.at_peak), a.peak_above);
            EXPECT_EQ(a.op_at_peak, b.op_at_peak) << layers << " layers";
            const PassTime short_time = pricer.time(folded.kernels, fold);
            const PassTime long_time = pricer.time(unfolded.kernels);
            EXPECT_NEAR(short_time.total() / long_time.total(), 1, 1e-9);
            EXPECT_NEAR(short_time.exposed, long_time.exposed, 1e-12);
            EXPECT_EQ(short_time.collectives, long_time.collectives);
        }
    }
}

TEST_P(Folding, ForwardAndBackwardGiveBackWhatTheyTake) {
    Bytes saved, fused, split;
    for (int slice = 0; slice < GetParam().slices; ++slice) {
        const models::StageGraph graph = stage(3, slice);
        const auto held = [&](const models::PassSteps& steps) {
            return play(graph, steps, LayerFold{5, 10}).held_after;
        };
        saved += held(models::forward_steps(graph));
        fused += held(models::backward_steps(graph));
        split +=
            held(models::backward_input_steps(graph)) + held(models::backward_weight_steps(graph));
    }
    EXPECT_GT(saved, Bytes{});
    EXPECT_EQ(saved + fused, Bytes{});
    EXPECT_EQ(saved + split, Bytes{});
}

constexpr auto kNone = models::Recompute::None;
constexpr auto kSelective = models::Recompute::Selective;
constexpr auto kFull = models::Recompute::Full;
constexpr auto kFlash = models::AttentionKernel::Flash;
constexpr auto kUnfused = models::AttentionKernel::Unfused;
INSTANTIATE_TEST_SUITE_P(
    Stages, Folding,
    testing::Values(Variant{"inner", 1, false, kNone, kUnfused, false, false},
                    Variant{"first", 2, false, kNone, kFlash, true, false},
                    Variant{"last", 8, true, kSelective, kUnfused, false, true},
                    Variant{"whole_full", 4, false, kFull, kUnfused, true, true},
                    Variant{"inner_full", 4, true, kFull, kFlash, false, false},
                    Variant{"whole_flash", 1, false, kNone, kFlash, true, true},
                    Variant{"slices", 2, true, kNone, kFlash, true, true, 4},
                    Variant{"slices_full", 1, false, kFull, kUnfused, false, true, 2}),
    [](const auto& variant) { return variant.param.name; });

constexpr ScheduledPasses kAll{true, true, true};

Duration takes(const scenarios::Scenario& scenario, Pass pass) {
    const PassPricer pricer(scenario);
    return StagePrice(scenario, pricer, {0, 6, false, false}, 0, kAll).of(pass).duration;
}

TEST(StagePrice, SplitsABackwardWithoutLosingWork) {
    const auto alone = gpt_job(1, 1, 1);
    const Duration split = takes(alone, Pass::BackwardInput) + takes(alone, Pass::BackwardWeight);
    EXPECT_NEAR(seconds(split) / seconds(takes(alone, Pass::Backward)), 1, 1e-6);
    // Apart, the weight gradients hide no communication any more.
    const auto eight = gpt_job(8, 1, 1);
    EXPECT_GT(takes(eight, Pass::BackwardInput) + takes(eight, Pass::BackwardWeight),
              takes(eight, Pass::Backward));
}

TEST(StagePrice, FullRecomputeAddsAForward) {
    for (const int tensor : {1, 8}) {
        auto scenario = gpt_job(tensor, 1, 1);
        const Duration without = takes(scenario, Pass::Backward);
        scenario.training.recompute = models::Recompute::Full;
        EXPECT_NEAR(seconds(takes(scenario, Pass::Backward) - without),
                    seconds(takes(scenario, Pass::Forward)), 1e-8);
    }
}

TEST(StagePrice, HostCostIsAFloorUnderSmallKernels) {
    auto scenario = gpt_job(1, 1, 1);
    const double device = seconds(takes(scenario, Pass::Forward));
    const auto graph = models::build_stage(scenario.model, scenarios::execution_of(scenario),
                                           {0, 6, false, false});
    const int modules = launches_of(graph, {}, {}, Pass::Forward).modules;
    scenario.framework.host_module = from_seconds(device / modules);
    EXPECT_NEAR(seconds(takes(scenario, Pass::Forward)) / device, std::pow(2, 0.25), 1e-5);
    scenario.framework.host_module = from_seconds(6 * device / modules);
    EXPECT_NEAR(seconds(takes(scenario, Pass::Forward)) / device,
                std::pow(std::pow(6, 4) + 1, 0.25), 1e-5);
    scenario.framework.host_module = from_seconds(device / modules / 100);
    EXPECT_NEAR(seconds(takes(scenario, Pass::Forward)), device, 1e-6 * device);
}

TEST(StagePrice, ExposesCommunicationThatNothingHides) {
    auto scenario = gpt_job(8, 1, 1);
    const PassPricer overlapping(scenario);
    const StagePrice hides(scenario, overlapping, {0, 6, false, false}, 0, kAll);
    scenario.framework.overlap_tensor_backward = false;
    const PassPricer waiting(scenario);
    const StagePrice waits(scenario, waiting, {0, 6, false, false}, 0, kAll);
    EXPECT_EQ(hides.of(Pass::Forward).exposed, waits.of(Pass::Forward).exposed);
    EXPECT_LT(hides.of(Pass::Backward).exposed, waits.of(Pass::Backward).exposed);
    // Two all-reduces of T h fp16 per layer and pass.
    const models::Collective one{models::Collective::Kind::AllReduce,
                                 models::Collective::Group::Tensor, Bytes{2 * 2048 * 4096}, 0};
    EXPECT_NEAR(seconds(waits.of(Pass::Forward).exposed), 12 * seconds(waiting.collective(one)),
                1e-7);
    EXPECT_EQ(waits.of(Pass::Forward).exposed, waits.of(Pass::Backward).exposed);
}

TEST(StagePrice, CountsParametersAsTheWholeStageHasThem) {
    for (const int tensor : {1, 8}) {
        const auto scenario = gpt_job(tensor, 1, 1);
        const PassPricer pricer(scenario);
        const models::StageContent content{0, 24, true, true};
        const StagePrice price(scenario, pricer, content, 0, kAll);
        const auto graph =
            models::build_stage(scenario.model, scenarios::execution_of(scenario), content);
        EXPECT_EQ(price.parameters().all, graph.parameter_count());
        EXPECT_EQ(price.parameters().units.tied, 51200 * 4096 / tensor);
    }
}

TEST(StagePrice, GathersShardedLayersBesideTheComputeOfOthers) {
    auto whole = gpt_job(1, 8, 1);
    auto sharded = whole;
    sharded.parallel.zero_stage = 3;
    const PassPricer pricer(sharded);
    const StagePrice price(sharded, pricer, {0, 6, false, false}, 0, kAll);
    EXPECT_GT(takes(sharded, Pass::Forward), takes(whole, Pass::Forward));
    // In a node everything but the first layer's gather is hidden under a layer.
    const double layer_bytes = 2.0 * static_cast<double>(price.parameters().units.layer);
    EXPECT_LT(seconds(price.of(Pass::Forward).exposed), 1.5 * layer_bytes * 7 / 8 / 230e9);
    // Over slow cards it does not.
    sharded.cluster.gpus_per_node = 1;
    sharded.cluster.network.nics_per_node = 1;
    sharded.cluster.network.nic_bandwidth = {1e9};
    EXPECT_GT(seconds(takes(sharded, Pass::Forward)), 6 * layer_bytes * 7 / 8 / 1e9);
    EXPECT_GT(
        price.memory(Pass::Forward).at_peak[static_cast<std::size_t>(MemoryClass::Parameters)],
        Bytes{});
}

TEST(StagePrice, GathersNoParametersForABackwardWeight) {
    auto sharded = gpt_job(1, 8, 1);
    sharded.parallel.zero_stage = 3;
    sharded.cluster.gpus_per_node = 1;
    sharded.cluster.network.nics_per_node = 1;
    sharded.cluster.network.nic_bandwidth = {1e9};
    sharded.framework.grad_reduce_dtype = models::DataType::Bf16;
    const PassPricer pricer(sharded);
    const StagePrice price(sharded, pricer, {0, 6, false, false}, 0, kAll);
    const auto exposed = [&](Pass pass) { return seconds(price.of(pass).exposed); };
    // Both send as much: what one gathers in bf16 the other scatters in bf16, as it was told to.
    EXPECT_NEAR(exposed(Pass::BackwardWeight), exposed(Pass::BackwardInput),
                0.05 * exposed(Pass::BackwardInput));
    EXPECT_GT(exposed(Pass::Backward), 1.8 * exposed(Pass::BackwardWeight));
    const auto held = [&](Pass pass) {
        return price.memory(pass).at_peak[static_cast<std::size_t>(MemoryClass::Parameters)];
    };
    EXPECT_GT(held(Pass::BackwardInput), Bytes{});
    EXPECT_EQ(held(Pass::BackwardWeight), Bytes{});
}

TEST(ShardedPass, HoldsTwoLayersAtOnceAndTheEndsWhereTheyAre) {
    auto scenario = gpt_job(1, 8, 1);
    scenario.parallel.zero_stage = 3;
    const models::StageGraph graph =
        models::build_stage(scenario.model, scenarios::execution_of(scenario), {0, 4, true, true});
    const ShardedUnits units = sharded_units(graph);
    EXPECT_EQ(units.root() + 4 * units.layer, graph.parameter_elements());
    EXPECT_EQ(units.tied, 51200 * 4096);
    EXPECT_NEAR(part_that_comes_last(units) * static_cast<double>(graph.parameter_elements()),
                static_cast<double>(units.tied + units.embedding), 1);

    const auto of = [&](PassPlace place, MemoryClass held_as) {
        const HeldByPlace held = held_by_place(scenario, units, use_of(Pass::Backward, false));
        return held[place][held_as].count;
    };
    EXPECT_EQ(of(PassPlace::Inner, MemoryClass::Parameters), 2 * (units.root() + 2 * units.layer));
    EXPECT_EQ(of(PassPlace::After, MemoryClass::Parameters), 2 * units.root());
    EXPECT_EQ(of(PassPlace::Before, MemoryClass::Gradients), 4 * (units.head + units.tied));
    EXPECT_EQ(of(PassPlace::Inner, MemoryClass::Gradients), 4 * (units.tied + 2 * units.layer));
    EXPECT_EQ(of(PassPlace::After, MemoryClass::Gradients),
              4 * (units.tied + units.embedding + units.layer));
    EXPECT_EQ(of(PassPlace::Inner, MemoryClass::Buffers), 0);
    scenario.parallel.communication_dtype = models::DataType::Bf16;
    EXPECT_EQ(of(PassPlace::Inner, MemoryClass::Buffers), 2 * units.layer) << "one is on its way";
    scenario.parallel.zero_stage = 1;
    EXPECT_EQ(held_by_place(scenario, units, use_of(Pass::Backward, false)), HeldByPlace{});
}

TEST(ShardedPass, TiedGradientsStayOnlyWhereBothEndsAre) {
    auto scenario = gpt_job(1, 8, 1);
    scenario.parallel.zero_stage = 2;
    const auto gradients = [&](const models::StageContent& content, PassPlace place) {
        const ShardedUnits units = sharded_units(
            models::build_stage(scenario.model, scenarios::execution_of(scenario), content));
        const HeldByPlace held = held_by_place(scenario, units, use_of(Pass::Backward, false));
        const auto& at = held[place];
        return std::pair(at[MemoryClass::Gradients].count / 4, units);
    };
    const auto [first, embedding] = gradients({0, 2, true, false}, PassPlace::Inner);
    EXPECT_EQ(first, 2 * embedding.layer) << "those of the embedding come last";
    const auto [last, head] = gradients({2, 2, false, true}, PassPlace::Inner);
    EXPECT_EQ(last, 2 * head.layer) << "those of the tied copy went with the head's";
    EXPECT_EQ(gradients({2, 2, false, true}, PassPlace::First).first,
              head.layer + head.head + head.tied);
    const auto [alone, units] = gradients({0, 0, true, false}, PassPlace::Before);
    EXPECT_EQ(alone, units.embedding + units.tied) << "of a stage without layers";
}

/// The bytes of all classes, each number once.
std::vector<std::int64_t> held_one_after_another(const models::PassSteps& steps,
                                                 const HeldByPlace& held) {
    const HeldAtSteps at(steps, held);
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < steps.steps.size(); ++i)
        if (const std::int64_t bytes = total(at.at(i)).count;
            order.empty() || order.back() != bytes)
            order.push_back(bytes);
    return order;
}

TEST(ShardedPass, KnowsWhereEachStepIs) {
    const auto scenario = gpt_job(1, 1, 1);
    const models::StageGraph graph =
        models::build_stage(scenario.model, scenarios::execution_of(scenario), {0, 3, true, true});
    HeldByPlace held;
    for (std::size_t place = 0; place < kPassPlaces; ++place)
        held.at[place][0] = Bytes{static_cast<std::int64_t>(place)};
    EXPECT_EQ(held_one_after_another(models::forward_steps(graph), held),
              (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
    EXPECT_EQ(held_one_after_another(models::backward_steps(graph), held),
              (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}))
        << "the loss comes before the head's product";
}

/// A layer and the one before it have whole gradients, each as large as it is.
TEST(ShardedPass, HoldsOfEachLayerWhatItHas) {
    const auto scenario = gpt_job(1, 1, 1);
    const models::StageGraph graph =
        models::build_stage(scenario.model, scenarios::execution_of(scenario), {0, 3, true, true});
    HeldByPlace held;
    for (MemoryByClass& at : held.at) at[MemoryClass::Gradients] = Bytes{1000};
    held.computed = 1;
    held.beyond = {{0, 100, 0}, {1, 20, 0}, {2, -3, 0}};
    EXPECT_EQ(held_one_after_another(models::backward_steps(graph), held),
              (std::vector<std::int64_t>{1000, 1000 - 3, 1000 + 20 - 3, 1000 + 100 + 20, 1000}));
}

}  // namespace
}  // namespace debubble::sim
