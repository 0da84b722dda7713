#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "models/graph/operator_runs.h"
#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "sim/cost/passes/pass_time.h"
#include "sim/predict.h"

/// Shared experts that overlap the all-to-all of the others (Megatron-LM's
/// --moe-shared-expert-overlap).
namespace debubble::sim {
namespace {

using models::Beside;

scenarios::Scenario job(bool overlaps) {
    std::vector<scenarios::Override> keys;
    for (const char* key :
         {"model={base: deepseek-v3, layers: 6}", "nodes=4", "parallel={expert: 32}",
          "schedule=1f1b", "training.global_batch=64", "training.recompute=none"})
        keys.push_back(scenarios::parse_override(key));
    keys.push_back(scenarios::parse_override(
        overlaps ? "framework={base: megatron-2026, moe_shared_expert_overlap: true}"
                 : "framework=megatron-2026"));
    return scenarios::read_scenario("deepseek-v3-bf16", keys);
}

models::StageGraph layers_of(const scenarios::Scenario& scenario, int first, int count) {
    return models::build_stage(scenario.model, scenarios::execution_of(scenario),
                               {first, count, false, false});
}

const models::Collective* exchange(const models::Kernel& kernel) {
    const auto* collective = std::get_if<models::Collective>(&kernel.work);
    return collective != nullptr && collective->is_expert_exchange() ? collective : nullptr;
}

/// Seconds of the layer's kernels that overlap the all-to-all.
double beside(const std::vector<models::Kernel>& kernels, const PassTime& time,
              const models::Kernel& of) {
    double sum = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        if (kernels[i].layer == of.layer && kernels[i].beside == of.beside &&
            !std::holds_alternative<models::Collective>(kernels[i].work))
            sum += time.each[i].takes;
    return sum;
}

/// An all-to-all is exposed for as long as it takes without it, less the shared experts' kernels.
TEST(SharedExpertOverlap, HidesAsMuchOfAnExchangeAsSharedExpertsTake) {
    const scenarios::Scenario overlaps = job(true), plain = job(false);
    const PassPricer with(overlaps), without(plain);
    const auto passes = models::steps_of(layers_of(overlaps, 3, 2), false);
    const auto apart = models::steps_of(layers_of(plain, 3, 2), false);
    int exchanges = 0;
    for (int pass = 0; pass < 2; ++pass) {
        const std::vector<models::Kernel>& kernels = passes[pass].kernels;
        const PassTime time = with.time(kernels), alone = without.time(apart[pass].kernels);
        ASSERT_EQ(kernels.size(), apart[pass].kernels.size());
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            if (exchange(kernels[i]) == nullptr) continue;
            ++exchanges;
            const double takes = alone.each[i].takes;
            EXPECT_EQ(alone.each[i].hidden, 0);
            EXPECT_NEAR(time.each[i].hidden, std::min(takes, beside(kernels, time, kernels[i])),
                        1e-12);
            EXPECT_GT(time.each[i].hidden, 0);
            EXPECT_NEAR(time.each[i].takes + time.each[i].hidden, takes, 1e-12);
        }
        EXPECT_NEAR(time.exposed + time.hidden, alone.exposed + alone.hidden, 1e-9);
        EXPECT_EQ(time.layers, alone.layers);
    }
    EXPECT_EQ(exchanges, 2 * 2 * 2) << "there and back, of two layers, forward and backward";
}

/// A recomputed forward hides its own all-to-all, and its backward another.
TEST(SharedExpertOverlap, HidesNoKernelTwice) {
    scenarios::Scenario scenario = job(true);
    scenario.training.recompute = models::Recompute::Full;
    const PassPricer pricer(scenario);
    const models::PassSteps backward = models::backward_steps(layers_of(scenario, 3, 2));
    const PassTime time = pricer.time(backward.kernels);
    double shared = 0;
    int exchanges = 0;
    for (std::size_t i = 0; i < backward.kernels.size(); ++i) {
        const models::Kernel& kernel = backward.kernels[i];
        if (exchange(kernel) != nullptr) {
            ++exchanges;
            EXPECT_GT(time.each[i].hidden, 0);
        } else if (kernel.beside != Beside::Nothing) {
            shared += time.each[i].takes;
        }
    }
    EXPECT_EQ(exchanges, 2 * 2 * 2) << "forward again, and backward";
    EXPECT_LE(time.hidden, shared + 1e-12);
}

TEST(SharedExpertOverlap, MakesAStepFasterAndChangesNoMemory) {
    const Prediction with = predict(job(true)).prediction, without = predict(job(false)).prediction;
    EXPECT_LT(with.step_time_s, without.step_time_s);
    EXPECT_GT(with.step_time_s, 0.8 * without.step_time_s);
    for (std::size_t rank = 0; rank < with.ranks.size(); ++rank)
        EXPECT_EQ(with.ranks[rank].peak_memory, without.ranks[rank].peak_memory);
}

}  // namespace
}  // namespace debubble::sim
