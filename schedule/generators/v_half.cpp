#include "schedule/generators/generators.h"
#include "schedule/generators/plan_search.h"

/// V-Half (Qi et al., 2024, arXiv:2405.15362): a V whose building block goes
/// down at half the speed, for half of 1F1B's memory: (p+2)/2 microbatches.
/// Bubble 3p-7 chunk passes at F = I = W and even p. Searches with the given costs.
///
///   rank 0  ...
namespace debubble {

Schedule v_half(const PipelineShape& shape, const GeneratorOptions& options) {
    const OrderProblem problem{shape, options.costs, true, 2 * ((shape.ranks + 2) / 2)};
    return to_schedule("v-half", problem, search_v_order(problem, {.way = {2, 1, 2, 1}}));
}

}  // namespace debubble
