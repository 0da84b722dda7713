#include "sim/cost/schedule_prices.h"

#include <algorithm>

#include "base/memo.h"
#include "scenarios/plan/derived.h"

namespace debubble::sim {

/// The inputs of a price besides the stage: the same for all stages of a scenario. The members that
/// differ most often come first in the comparison.
struct PricedStages::Scene {
    models::Execution execution;
    scenarios::Parallel parallel;
    scenarios::Precision precision;
    models::Architecture model;
    scenarios::Framework framework;
    scenarios::Cluster cluster;
    friend bool operator==(const Scene&, const Scene&) = default;
};

/// All inputs of a price.
struct PricedStages::Key {
    models::StageContent content;
    ScheduledPasses passes;
    int slice = 0;
    std::shared_ptr<const Scene> scene;
    friend bool operator==(const Key& a, const Key& b) {
        return a.content == b.content && a.passes == b.passes && a.slice == b.slice &&
               (a.scene == b.scene || *a.scene == *b.scene);
    }
};

namespace {

/// Some 50 kB each, of folded stages.
constexpr std::size_t kMostPricesKept = 512;
/// Of all of them together; some 2.5 kB for each.
constexpr std::size_t kMostOperatorsKept = 100'000;

/// Partition and distribution of stages show in their contents. Of the chunks of a rank a price
/// depends only on whether there are several, by which some frameworks choose how messages are
/// sent.
scenarios::Parallel without_partition(scenarios::Parallel parallel) {
    parallel.stages_per_rank = std::min(parallel.stages_per_rank, 2);
    parallel.partition = {};
    parallel.layers_per_stage.clear();
    parallel.prediction_stage.reset();
    return parallel;
}

/// A fused kernel has nothing to select.
models::Execution as_computed(models::Execution execution) {
    if (execution.recompute == models::Recompute::Selective &&
        execution.attention == models::AttentionKernel::Flash)
        execution.recompute = models::Recompute::None;
    return execution;
}

}  // namespace

PricedStages::PricedStages(const scenarios::Scenario& scenario, const PassPricer& pricer)
    : scene_(std::make_shared<const Scene>(Scene{
          as_computed(scenarios::execution_of(scenario)), without_partition(scenario.parallel),
          scenario.training.precision, scenario.model, scenario.framework, scenario.cluster})),
      scenario_(scenario),
      pricer_(pricer) {}

std::shared_ptr<const StagePrice> PricedStages::get(const models::StageContent& content, int slice,
                                                    const ScheduledPasses& passes) const {
    static auto& prices = *new Memo<Key, const StagePrice>(
        kMostPricesKept, kMostOperatorsKept,
        [](const StagePrice& price) { return price.graph().operators.size(); });
    return prices.get(Key{content, passes, slice, scene_}, [&] {
        return std::make_unique<const StagePrice>(scenario_, pricer_, content, slice, passes);
    });
}

}  // namespace debubble::sim
