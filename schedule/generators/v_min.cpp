#include "schedule/generators/generator.h"
#include "schedule/generators/v_order.h"

/// V-Min (Qi et al., 2024, arXiv:2405.15362): a V whose building block goes
/// both ways at full speed, for a third of 1F1B's memory: (p+4)/3 microbatches.
/// It pays with a bubble: 11 chunk passes at p = 4, 23 at p = 8, F = I = W.
/// Searches with the given costs.
///
///   rank 0  0F0 0F1 0F2 5F0 5I0 5W0 5F1 5I1 5W1 0I0 0W0 5F2 5I2 0I1 5W2 0W1 0I2 0W2
///   rank 1  1F0 1F1 4F0 4F1 4I0 4W0 1F2 4I1 1I0 4W1 1W0 4F2 1I1 4I2 1W1 4W2 1I2 1W2
///   rank 2  2F0 3F0 2F1 3F1 3I0 2I0 3W0 2F2 2W0 3F2 3I1 2I1 3W1 2W1 3I2 2I2 3W2 2W2
namespace debubble {
namespace {

Schedule v_min(const PipelineShape& shape, const GeneratorOptions& options) {
    const OrderProblem problem{shape, options.costs, true, {2 * ((shape.ranks + 4) / 3)}};
    const int wait = shape.ranks % 3 == 0 ? 3 : 1;
    return to_schedule("v-min", problem, search_v_order(problem, {{1, 1, 1, 1}, wait, 1}));
}

}  // namespace

Generator v_min_row() {
    return {.name = "v-min",
            .summary = "two chunks per rank in a V, a third of 1F1B's memory",
            .source = "arXiv:2405.15362",
            .make = v_min,
            .why_not = v_shape_with_costs,
            .splits_backward = true,
            .stages_per_rank = 2,
            .uses_costs = true,
            .placement = [](const PipelineShape& shape) { return v_placement(shape.ranks); }};
}

}  // namespace debubble
