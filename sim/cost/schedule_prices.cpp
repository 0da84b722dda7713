#include "sim/cost/schedule_prices.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "scenarios/cluster/measured.h"
#include "scenarios/plan/derived.h"
#include "sim/memory/layer_fold.h"

namespace debubble::sim {
namespace {

ScheduledPasses scheduled_passes(const Schedule& schedule) {
    ScheduledPasses passes;
    for (const ActionList& list : schedule.ranks)
        for (const Action& action : list) {
            passes.again = passes.again || std::holds_alternative<Recompute>(action);
            for_each_compute(action, [&](const Compute& c) {
                passes.fused = passes.fused || c.pass == Pass::Backward;
                passes.split = passes.split || c.pass == Pass::BackwardInput;
            });
        }
    passes.several_holders = has_several_holders(schedule.placement);
    passes.backwards_follow = backwards_follow(schedule.ranks);
    return passes;
}

IndexedBy<Stage, bool> recomputed_stages(const Schedule& schedule) {
    IndexedBy<Stage, bool> recomputed(schedule.stage_count());
    for (const ActionList& list : schedule.ranks)
        for (const Action& action : list)
            if (const auto* again = std::get_if<Recompute>(&action))
                recomputed[again->stage] = true;
    return recomputed;
}

}  // namespace

PricedPasses priced_passes(const Schedule& schedule) {
    return {schedule.placement, schedule.shape.slices, scheduled_passes(schedule),
            recomputed_stages(schedule)};
}

SchedulePrices::SchedulePrices(const scenarios::Scenario& scenario,
                               const std::vector<models::StageContent>& stages, PricedPasses passes,
                               LayersNamed named)
    : scenario_(scenario),
      placement_(std::move(passes.placement)),
      pricer_(scenario_),
      prices_(scenario_, pricer_),
      passes_(passes.kinds),
      slices_(passes.slices),
      recomputed_(std::move(passes.recomputed)) {
    assert(static_cast<int>(stages.size()) == placement_.stage_count() && "one content per stage");
    recomputed_.resize(stages.size());
    passes_.pairs = scenario.schedule.pairs_layers;
    if (!scenarios::gather_limits(scenario_)) passes_.backwards_follow = false;
    if (passes_.pairs && !passes_.fused)
        passes_.weights = PairWeights::After;
    else if (scenario.schedule.delays_weights() &&
             !scenarios::measures_operators(scenario.cluster.measured))
        passes_.weights = PairWeights::Delayed;
    const models::LowPrecision how = scenarios::execution_of(scenario_).low_precision;
    for (const models::StageContent& content : stages) {
        const auto known = std::ranges::find_if(distinct_, [&](const Priced& priced) {
            return alike(scenario_.model.layers, how, priced.content, content);
        });
        first_layer_.push_back(content.first_layer);
        price_of_.push_back(known - distinct_.begin());
        if (known != distinct_.end()) continue;
        Priced priced{content, {}};
        const models::StageContent& asked =
            named == LayersNamed::Own ? content : first_alike(content);
        for (int slice = 0; slice < slices_; ++slice)
            priced.slices.push_back(prices_.get(asked, slice, passes_));
        distinct_.push_back(std::move(priced));
    }
}

/// Only layers between the ends, which are built by their kinds alone.
models::StageContent SchedulePrices::first_alike(const models::StageContent& content) const {
    const models::Architecture& model = scenario_.model;
    const bool has_end = content.embedding || content.head || content.final_norm ||
                         content.predictions != models::Predictions::WithHead;
    const bool by_place = !model.sharding.empty() || model.residual_block || model.tower ||
                          model.mixes_streams() || scenarios::gather_limits(scenario_) ||
                          scenarios::measures_operators(scenario_.cluster.measured);
    models::StageContent first = content;
    if (has_end || by_place) return first;
    const models::LowPrecision how = scenarios::execution_of(scenario_).low_precision;
    first.first_layer = 0;
    while (!alike(model.layers, how, first, content)) ++first.first_layer;
    return first;
}

Duration SchedulePrices::time_of(const models::StageContent& content) const {
    const models::StageContent asked = first_alike(content);
    Duration sum{};
    for (int slice = 0; slice < slices_; ++slice) {
        const auto price = prices_.get(asked, slice, passes_);
        sum += price->of(Pass::Forward).duration + price->again().duration;
        if (passes_.fused)
            sum += price->of(Pass::Backward).duration;
        else
            sum +=
                price->of(Pass::BackwardInput).duration + price->of(Pass::BackwardWeight).duration;
    }
    return sum;
}

models::ParameterCount SchedulePrices::elements_of(Rank rank) const {
    models::ParameterCount sum;
    for (const Stage stage : placement_.stages_of(rank)) sum += elements(stage);
    return sum;
}

models::ParameterCount SchedulePrices::whole_elements_of(Rank rank) const {
    models::ParameterCount sum;
    for (const Stage stage : placement_.stages_of(rank)) sum += of(stage).parameters().whole;
    return sum;
}

std::vector<StepMatrix> SchedulePrices::matrices_of(Rank rank) const {
    std::vector<StepMatrix> all;
    if (!std::holds_alternative<scenarios::MuonOptions>(scenario_.training.run.optimizer))
        return all;
    for (const Stage stage : placement_.stages_of(rank)) {
        const std::vector<StepMatrix> of_stage = of(stage).matrices();
        all.insert(all.end(), of_stage.begin(), of_stage.end());
    }
    return all;
}

}  // namespace debubble::sim
