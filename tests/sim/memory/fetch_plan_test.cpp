#include "sim/memory/fetch_plan.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "scenarios/plan/derived.h"
#include "tests/sim/scenarios.h"

namespace debubble::sim {
namespace {

constexpr std::int64_t kBoundless = scenarios::kMostElements;
using scenarios::GatherLimits;

scenarios::Scenario zero3() {
    auto scenario = gpt_job(1, 8, 1);
    scenario.parallel.zero_stage = 3;
    scenario.framework.stage3.prefetch_bucket_size = 0;
    return scenario;
}

models::StageGraph graph_of(int layers) {
    const auto scenario = zero3();
    return models::build_stage(scenario.model, scenarios::execution_of(scenario),
                               {0, layers, true, true});
}

FetchPlan plan_of(const GatherLimits& limits, int layers = 4, LayerFold fold = {},
                  bool follows = true) {
    const models::StageGraph graph = graph_of(layers);
    return fetch_plan(zero3(), limits, graph, fold, models::forward_steps(graph),
                      models::backward_steps(graph), follows);
}

std::int64_t elements(const FetchPlan& plan, const std::vector<int>& parameters) {
    return std::accumulate(
        parameters.begin(), parameters.end(), std::int64_t{0}, [&](std::int64_t sum, int index) {
            return sum + plan.parameters[static_cast<std::size_t>(index)].elements;
        });
}

std::int64_t gathered(const FetchPlan& plan, const FetchPass& pass) {
    std::int64_t sum = 0;
    for (const FetchVisit& visit : pass.visits)
        sum += elements(plan, visit.needed) + elements(plan, visit.ahead);
    return sum;
}

TEST(FetchPlan, WithoutPrefetchAndReuseHoldsOneOperatorAtATime) {
    const FetchPlan plan = plan_of({0, kBoundless, 0, 0, kBoundless});
    for (const FetchPass* pass : {&plan.forward, &plan.backward}) {
        for (const FetchVisit& visit : pass->visits) {
            EXPECT_EQ(visit.held, elements(plan, visit.uses));
            EXPECT_EQ(visit.needed, visit.uses);
            EXPECT_TRUE(visit.ahead.empty());
        }
        EXPECT_EQ(pass->left, 0);
    }
}

TEST(FetchPlan, PrefetchesUntilThereAreSoManyAndNothingBeyondWhatMayLive) {
    const std::int64_t largest = 51200 * 4096;  // the table
    for (const std::int64_t bucket : {1L, 10'000'000L, 100'000'000L, 1'000'000'000L})
        for (const std::int64_t live : {0L, 50'000'000L, 300'000'000L, 5'000'000'000L}) {
            const FetchPlan plan = plan_of({bucket, live, 0, 0, kBoundless});
            std::int64_t ahead = 0;
            for (const FetchPass* pass : {&plan.forward, &plan.backward})
                for (const FetchVisit& visit : pass->visits) {
                    const std::int64_t asked = elements(plan, visit.ahead);
                    EXPECT_LT(asked, bucket + largest);
                    if (asked > 0) {
                        EXPECT_LT(visit.held - asked, live);
                    }
                    ahead += asked;
                }
            EXPECT_EQ(ahead > 0, live > 0) << bucket << " " << live;
        }
}

/// Of what the backward uses again, the head comes at once and the embedding at the very end.
TEST(FetchPlan, KeepsForTheBackwardWhatIsUsedAgainBeforeTheReuseDistance) {
    const std::int64_t all = graph_of(4).parameter_elements();
    const FetchPlan kept = plan_of({0, kBoundless, kBoundless, 0, kBoundless});
    EXPECT_EQ(kept.forward.left, all);
    EXPECT_EQ(gathered(kept, kept.forward), all);
    EXPECT_EQ(gathered(kept, kept.backward), 0);
    EXPECT_EQ(kept.backward.left, 0);
    // The table is the head's, which is used twice with nothing between, and the embedding's.
    EXPECT_EQ(plan_of({0, kBoundless, 1, 0, kBoundless}).forward.left, 51200 * 4096);
    std::int64_t before = 0;
    std::int64_t gathers = 4 * all;
    for (std::int64_t distance = 0; distance < 4 * all; distance += all / 16) {
        const FetchPlan plan = plan_of({0, kBoundless, distance, 0, kBoundless});
        EXPECT_GE(plan.forward.left, before) << distance;
        const std::int64_t both = gathered(plan, plan.forward) + gathered(plan, plan.backward);
        EXPECT_LE(both, gathers) << distance;
        before = plan.forward.left;
        gathers = both;
    }
    EXPECT_EQ(before, all);
    EXPECT_EQ(gathers, all) << "each parameter once";
    EXPECT_EQ(plan_of({0, kBoundless, kBoundless, 0, kBoundless}, 4, {}, false).forward.left, 0)
        << "another pass comes between";
}

TEST(FetchPlan, LeavesSmallParametersWholeAsLongAsTheyAreFew) {
    const auto whole = [](const GatherLimits& limits) {
        const auto parameters = fetched_parameters(zero3(), limits, graph_of(4), {});
        std::int64_t sum = 0;
        for (const FetchedParameter& parameter : parameters)
            if (parameter.whole) sum += parameter.elements;
        return sum;
    };
    const std::int64_t all = graph_of(4).parameter_elements();
    EXPECT_EQ(whole({0, kBoundless, 0, 0, kBoundless}), 0);
    EXPECT_EQ(whole({0, kBoundless, 0, kBoundless, kBoundless}), all);
    // Two norms with biases, and biases of 3 h, h, 4 h and h; the final norm.
    const std::int64_t small = 4 * 13 * 4096 + 2 * 4096;
    EXPECT_EQ(whole({0, kBoundless, 0, 16384, kBoundless}), small);
    EXPECT_EQ(whole({0, kBoundless, 0, 4096, kBoundless}), 4 * 6 * 4096 + 2 * 4096)
        << "of exactly so many";
    EXPECT_EQ(whole({0, kBoundless, 0, 16384, 10 * 4096}), 10 * 4096);
    const FetchPlan plan = plan_of({kBoundless, kBoundless, 0, kBoundless, kBoundless});
    EXPECT_EQ(gathered(plan, plan.forward) + gathered(plan, plan.backward), 0);
}

/// Three layers of which the middle one stands for several.
TEST(FetchPlan, OfAFoldIsThatOfAllItsLayers) {
    for (const GatherLimits& limits :
         {GatherLimits{}, GatherLimits{0, kBoundless, 0, 0, kBoundless},
          GatherLimits{kBoundless, kBoundless, kBoundless, 0, kBoundless},
          GatherLimits{1'000'000, 400'000'000, 900'000'000, 20'000, 1'000'000}}) {
        const FetchPlan folded = plan_of(limits, 3, {1, 5});
        const FetchPlan all = plan_of(limits, 7);
        const auto expect_same = [&](const FetchPass& a, const FetchPass& b) {
            ASSERT_EQ(a.visits.size(), b.visits.size());
            for (std::size_t v = 0; v < a.visits.size(); ++v) {
                EXPECT_EQ(a.visits[v].held, b.visits[v].held);
                EXPECT_EQ(elements(folded, a.visits[v].needed), elements(all, b.visits[v].needed));
                EXPECT_EQ(elements(folded, a.visits[v].ahead), elements(all, b.visits[v].ahead));
                EXPECT_EQ(a.visits[v].layer, b.visits[v].layer);
            }
            EXPECT_EQ(a.left, b.left);
        };
        expect_same(folded.forward, all.forward);
        expect_same(folded.backward, all.backward);
    }
}

TEST(FetchPlan, KnowsWhereABackwardFollowsItsForward) {
    const Compute f0{Pass::Forward, Stage{0}, {0, {}}}, b0{Pass::Backward, Stage{0}, {0, {}}};
    const Compute f1{Pass::Forward, Stage{0}, {1, {}}}, b1{Pass::Backward, Stage{0}, {1, {}}};
    EXPECT_TRUE(backwards_follow({{f0, b0, f1, b1}}));
    EXPECT_FALSE(backwards_follow({{f0, f1, b0, b1}}));
    EXPECT_FALSE(backwards_follow({{f0, b1}}));
}

}  // namespace
}  // namespace debubble::sim
