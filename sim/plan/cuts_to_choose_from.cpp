#include "sim/plan/plan_bound.h"

#include <utility>

#include "models/partition/partition.h"
#include "scenarios/plan/plan.h"
#include "sim/cost/schedule_prices.h"
#include "sim/plan/ordered_plan.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

/// The first stage has the layers that add features of its vision tower.
std::vector<models::StageContent> with_features(std::vector<models::StageContent> stages,
                                                const models::Architecture& model) {
    const std::size_t features = model.tower ? model.tower->deepstack.size() : 0;
    for (std::size_t i = 1; i < stages.size(); ++i)
        while (std::cmp_less(stages.front().layers, features) && stages[i].layers > 1) {
            ++stages.front().layers;
            --stages[i].layers;
            for (std::size_t j = 1; j <= i; ++j) ++stages[j].first_layer;
        }
    return stages;
}

std::vector<models::StageContent> cut_by_prices(const Scenario& uniform,
                                                const std::vector<models::StageContent>& stages,
                                                const PricedPasses& passes) {
    const SchedulePrices prices(uniform, stages, passes, LayersNamed::OfFirstAlike);
    std::vector<std::vector<int>> stages_of_rank;
    for (const std::vector<Stage>& held : passes.placement.stages) {
        std::vector<int>& of_rank = stages_of_rank.emplace_back();
        for (const Stage stage : held) of_rank.push_back(stage.index);
    }
    return models::begun_at_choices(
        with_features(models::balanced_over_ranks(
                          layer_costs(prices, passes.placement.stage_count()), stages_of_rank),
                      uniform.model),
        uniform.model.layers);
}

}  // namespace

std::vector<Scenario> cuts_to_choose_from(const Scenario& scenario) {
    Scenario uniform = scenario;
    uniform.parallel.partition = scenarios::Partition::Uniform;
    const PricedPasses passes = passes_to_price(uniform);
    const auto even = partition_of(uniform, passes.placement.stage_count());
    std::vector<Scenario> cuts{with_cut(scenario, even)};
    if (even.size() == 1) return cuts;
    const auto by_prices = cut_by_prices(uniform, even, passes);
    if (by_prices != even) cuts.push_back(with_cut(scenario, by_prices));
    return cuts;
}

}  // namespace debubble::sim
