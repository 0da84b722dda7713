#include "sim/cost/folded_stage.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "models/network/layers.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/plan/derived.h"

namespace debubble::sim {
namespace {

constexpr int kLayersBuilt = 3;  ///< of a run: the first, one that represents all inner ones, and
                                 ///< the last

/// The longest run of equal layers, of which all or none are recomputed or offloaded.
models::LayerRun longest_run(const scenarios::Scenario& scenario, const models::Execution& how,
                             const models::StageContent& content) {
    const auto identical = [&](int one, int other) {
        const int before_one = one - content.first_layer;
        const int before_other = other - content.first_layer;
        return how.low_precision.quantises(one) == how.low_precision.quantises(other) &&
               how.recompute_extent.reaches(before_one) ==
                   how.recompute_extent.reaches(before_other) &&
               how.offload.reaches(before_one) == how.offload.reaches(before_other);
    };
    models::LayerRun longest;
    for (const models::LayerRun& run :
         models::runs_of(scenario.model.layers, content.first_layer, content.layers)) {
        const int end = run.first + run.count;
        for (int first = run.first, next = first; first < end; first = next) {
            while (next < end && identical(next, first)) ++next;
            if (next - first > longest.count) longest = {first, next - first};
        }
    }
    return longest;
}

/// Shifts the indices of layers after `run` down by the layers taken out of it.
void shorten(models::WideLayers& range, const models::LayerRun& run, int taken) {
    const int after = run.first + run.count;
    if (range.first >= after) range.first -= taken;
    if (range.end >= after) range.end -= taken;
}

/// How many of the first `layers` of a stage remain after folding `run`, which lies before their
/// end or after it.
void shorten(std::optional<int>& layers, const models::LayerRun& run, int first_of_stage,
             int taken) {
    if (layers && *layers > run.first - first_of_stage) *layers -= taken;
}

/// The layers that add features of a vision tower (DeepStack) differ from those after them.
models::LayerRun without_features(const scenarios::Scenario& scenario,
                                  const models::StageContent& content, models::LayerRun run) {
    if (!scenario.model.tower || !content.embedding) return run;
    const auto features = static_cast<int>(scenario.model.tower->deepstack.size());
    const int cut = std::clamp(features - run.first, 0, run.count);
    run.first += cut;
    run.count -= cut;
    return run;
}

/// A cluster's measured operators are found by all their parameters, and parameters that ZeRO-3
/// gathers count one by one.
models::ExpertParameters listed_experts(const scenarios::Scenario& scenario) {
    const bool one_by_one = scenario.parallel.gathers_in_passes() ||
                            scenarios::measures_operators(scenario.cluster.measured);
    return one_by_one ? models::ExpertParameters::EachByName : models::ExpertParameters::Counted;
}

}  // namespace

FoldedStage folded_stage(const scenarios::Scenario& scenario, const models::StageContent& content,
                         int slice) {
    models::Execution execution = scenarios::execution_of(scenario);
    execution.slice = slice;
    const models::Layers& layers = scenario.model.layers;
    const models::LayerRun longest =
        without_features(scenario, content, longest_run(scenario, execution, content));
    // A sharding table may name one of the layers, which then differs.
    // Layers differ where several are recomputed together, and where limits of what ZeRO-3 keeps
    // leave different parameters from one to the next.
    // The operands of a part grow with the layers before it where sums are stored.
    const bool identical =
        execution.recompute_extent.together == 1 && !scenario.model.residual_block &&
        (scenario.parallel.zero_stage != 3 || !scenarios::gather_limits(scenario));
    const int folded =
        scenario.model.sharding.empty() && identical ? longest.count - kLayersBuilt : 0;
    const models::ExpertParameters experts = listed_experts(scenario);
    if (folded <= 0)
        return {built_stage(std::make_shared<const models::Architecture>(scenario.model), execution,
                            content, experts),
                {}};
    shorten(execution.low_precision.wide_first, longest, folded);
    shorten(execution.low_precision.wide_last, longest, folded);
    shorten(execution.recompute_extent.layers, longest, content.first_layer, folded);
    shorten(execution.offload.layers, longest, content.first_layer, folded);
    models::Architecture shorter = scenario.model;
    shorter.layers = {};
    const int after = longest.first + longest.count;
    for (int layer = 0; layer < content.first_layer + content.layers; ++layer)
        if (layer < longest.first + kLayersBuilt || layer >= after)
            shorter.layers.append(layers[layer]);
    models::StageContent built = content;
    built.layers -= folded;
    return {built_stage(std::make_shared<const models::Architecture>(std::move(shorter)), execution,
                        built, experts),
            {longest.first + 1, folded + 1}};
}

}  // namespace debubble::sim
