#include "sim/cost/schedule_prices.h"

#include <gtest/gtest.h>

#include <thread>

#include "scenarios/plan/plan.h"
#include "tests/models/change_layers.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

constexpr ScheduledPasses kAllPasses{true, true, true};

void expect_same(const StagePrice& a, const StagePrice& b) {
    for (const Pass pass :
         {Pass::Forward, Pass::Backward, Pass::BackwardInput, Pass::BackwardWeight}) {
        EXPECT_EQ(a.of(pass).duration, b.of(pass).duration);
        EXPECT_EQ(a.of(pass).host, b.of(pass).host);
        EXPECT_EQ(a.memory(pass).held_after, b.memory(pass).held_after);
        EXPECT_EQ(a.memory(pass).at_peak, b.memory(pass).at_peak);
        EXPECT_EQ(a.memory(pass).op_at_peak, b.memory(pass).op_at_peak);
    }
    EXPECT_EQ(a.parameters().all, b.parameters().all);
}

/// Jobs that differ in one thing each: whatever is kept must not be taken for another's.
std::vector<scenarios::Scenario> jobs() {
    std::vector<scenarios::Scenario> jobs(14, gpt_job(2, 2, 1));
    jobs[1].training.micro_batch = 2;
    jobs[2].training.recompute = models::Recompute::Full;
    jobs[3].parallel.sequence = true;
    jobs[4].framework.host_module += std::chrono::milliseconds(5);
    jobs[5].cluster.gpu.memory_bandwidth = BytesPerSecond{1e12};
    change_layers(jobs[6].model, [](models::LayerKeys& keys) { keys.ffn *= 2; });
    jobs[7].training.precision.compute = models::DataType::Fp32;
    for (const int i : {8, 9}) {  // whose host waits for messages, unless ranks have several chunks
        jobs[i].framework.point_to_point_blocks = scenarios::MessagesBlock::WithoutChunks;
        jobs[i].framework.host_micro_batch = std::chrono::milliseconds(1);
    }
    jobs[9].parallel.stages_per_rank = 2;
    jobs[10].parallel.data = 4;
    jobs[10].parallel.zero_stage = 2;
    jobs[11] = jobs[10];
    jobs[11].parallel.zero_stage = 3;
    jobs[12].schedule.slices = 2;
    jobs[13].training.seq_length /= 2;
    return jobs;
}

TEST(PricedStages, AreThoseOfStagesPricedAnewWhoeverAsked) {
    const auto asked = jobs();
    const std::vector<models::StageContent> contents{
        {0, 4, true, false}, {4, 4, false, false}, {4, 5, false, false}, {20, 4, false, true}};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            for (const scenarios::Scenario& job : asked) {
                const PassPricer pricer(job);
                const PricedStages prices(job, pricer);
                for (const models::StageContent& content : contents)
                    expect_same(*prices.get(content, 0, kAllPasses),
                                StagePrice(job, pricer, content, 0, kAllPasses));
            }
        });
}

TEST(PricedStages, AreKept) {
    const scenarios::Scenario job = gpt_job(4, 1, 1);
    const PassPricer pricer(job);
    const models::StageContent content{0, 4, true, false};
    const auto first = PricedStages(job, pricer).get(content, 0, kAllPasses);
    scenarios::Scenario other = job;
    other.training.micro_batches = 64;
    other.schedule.name = "gpipe";
    const PassPricer again(other);
    EXPECT_EQ(PricedStages(other, again).get(content, 0, kAllPasses), first);
}

/// What a bound asks for: it names no layer.
TEST(SchedulePrices, AreTheSameForTheFirstStagesThatAreAlike) {
    const scenarios::Scenario job = gpt_job(1, 1, 4);
    const int layers = job.model.layers.count() / 4;
    std::vector<models::StageContent> stages;
    for (int s = 0; s < 4; ++s) stages.push_back({s * layers, layers, s == 0, s == 3});
    const PricedPasses passes = priced_passes(scenarios::make_plan(job).schedule);
    const SchedulePrices own(job, stages, passes);
    const SchedulePrices of_first(job, stages, passes, LayersNamed::OfFirstAlike);
    EXPECT_EQ(of_first.of(Stage{2}).graph().content.first_layer, 0);
    EXPECT_GT(own.of(Stage{2}).graph().content.first_layer, 0);
    for (int s = 0; s < 4; ++s) expect_same(own.of(Stage{s}), of_first.of(Stage{s}));
}

TEST(FoldedStage, SharesItsGraphWithStagesOfOtherNumbersOfInnerLayers) {
    const scenarios::Scenario job = gpt_job(4, 1, 1);
    const FoldedStage one = folded_stage(job, {4, 4, false, false}, 0);
    const FoldedStage other = folded_stage(job, {4, 7, false, false}, 0);
    EXPECT_EQ(one.built, other.built);
    EXPECT_EQ(one.fold.times, 2);
    EXPECT_EQ(other.fold.times, 5);
}

/// A run of equal layers is priced by three of them. A table of shardings, here one that asks for
/// what is done anyway, makes every layer be built.
TEST(StagePrice, OfLayersThatDifferIsThatOfEveryLayer) {
    scenarios::Scenario folded = gpt_job(2, 2, 1);
    models::LayerKeys keys = models::keys_of(folded.model.layers[0]);
    const models::Layer wide = models::layer_of(keys);
    keys.ffn = 1024;
    const models::Layer narrow = models::layer_of(keys);
    folded.model.layers = {wide, 2};
    folded.model.layers.append(narrow, 7);
    folded.model.layers.append(wide);
    scenarios::Scenario whole = folded;
    whole.model.sharding = {{"h.0.mlp.c_fc.weight", models::Sharding::Column}};
    const PassPricer pricer(folded);
    const PassPricer pricer_of_whole(whole);
    const models::StageContent content{1, 9, false, true};
    const StagePrice a(folded, pricer, content, 0, kAllPasses);
    const StagePrice b(whole, pricer_of_whole, content, 0, kAllPasses);
    EXPECT_LT(folded_stage(folded, content, 0).graph.operators.size(),
              folded_stage(whole, content, 0).graph.operators.size());
    EXPECT_EQ(a.parameters().all, b.parameters().all);
    for (const Pass pass :
         {Pass::Forward, Pass::Backward, Pass::BackwardInput, Pass::BackwardWeight}) {
        EXPECT_NEAR(seconds(a.of(pass).duration), seconds(b.of(pass).duration), 1e-8);
        EXPECT_EQ(a.memory(pass).held_after, b.memory(pass).held_after);
        EXPECT_EQ(a.memory(pass).at_peak, b.memory(pass).at_peak);
    }
}

/// A stage whose first layers alone are recomputed or offloaded, and whose other layers are folded.
TEST(StagePrice, OfFirstLayersThatRunAgainIsThatOfEveryLayer) {
    struct Case {
        models::Recompute recompute;
        models::RecomputeExtent extent;
        models::OffloadExtent offload;
    };
    models::Modules mlp;
    mlp.add(models::Module::Mlp);
    models::Modules core;
    core.add(models::Module::CoreAttention);
    const models::OffloadExtent stays;
    const std::vector<Case> cases{
        {models::Recompute::Full, {{}, 8}, stays},
        {models::Recompute::Full, {{}, 2}, stays},
        {models::Recompute::Full, {{}, 20}, stays},
        {models::Recompute::Modules, {mlp, 7}, stays},
        {models::Recompute::None, {}, {core, false, 6}},
        {models::Recompute::Modules, {mlp, 3}, {core, false, 9}},
        {models::Recompute::Modules, {mlp, 9}, {core, false, 3}},
    };
    for (const Case& of : cases) {
        scenarios::Scenario folded = gpt_job(2, 2, 1);
        folded.training.recompute = of.recompute;
        folded.training.recompute_extent = of.extent;
        folded.training.offload = of.offload;
        folded.training.offload.fewest_elements = 1;
        scenarios::Scenario whole = folded;
        whole.model.sharding = {{"h.0.mlp.c_fc.weight", models::Sharding::Column}};
        SCOPED_TRACE(testing::Message() << of.extent.layers.value_or(0) << " layers again, "
                                        << of.offload.layers.value_or(0) << " that are offloaded");
        const models::StageContent content{1, 11, false, true};
        const StagePrice a(folded, PassPricer(folded), content, 0, kAllPasses);
        const StagePrice b(whole, PassPricer(whole), content, 0, kAllPasses);
        EXPECT_LT(a.graph().operators.size(), b.graph().operators.size());
        for (const Pass pass :
             {Pass::Forward, Pass::Backward, Pass::BackwardInput, Pass::BackwardWeight}) {
            EXPECT_NEAR(seconds(a.of(pass).duration), seconds(b.of(pass).duration), 1e-8);
            EXPECT_EQ(a.memory(pass).held_after, b.memory(pass).held_after);
            EXPECT_EQ(a.memory(pass).at_peak, b.memory(pass).at_peak);
        }
    }
}

}  // namespace
}  // namespace debubble::sim
