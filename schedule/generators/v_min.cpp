#include "schedule/generators/generators.h"
#include "schedule/generators/plan_search.h"

/// V-Min (Qi et al., 2024, arXiv:2405.15362): a V whose building block goes
/// both ways at full speed, for a third of 1F1B's memory: (p+4)/3 microbatches.
/// It pays with a bubble: 11 chunk passes at p = 4, 23 at p = 8, F = I = W.
/// Searches with the given costs.
///
///   rank 0  ...
namespace debubble {

Schedule v_min(const PipelineShape& shape, const GeneratorOptions& options) {
    const OrderProblem problem{shape, options.costs, true, 2 * ((shape.ranks + 4) / 3)};
    return to_schedule("v-min", problem, search_v_order(problem, {}));
}

}  // namespace debubble
