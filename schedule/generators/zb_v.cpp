#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/v_order.h"

/// ZB-V (Qi et al., 2023, arXiv:2401.10241, section 6; its building block in
/// 2405.15362): two chunks per rank in a V, so that the rank with the first
/// forward has the loss too. No bubble in span at F = I = W, with the p
/// microbatches that 1F1B holds. Searches with the given costs.
///
///   rank 0  0F0 0F1 0F2 5F0 5I0 5F1 5I1 5F2 5I2 0I0 5W0 0I1 5W1 0I2 5W2 0W0 0W1 0W2
///   rank 1  1F0 1F1 4F0 1F2 4F1 4I0 4F2 4I1 1I0 4I2 1I1 4W0 1I2 4W1 1W0 4W2 1W1 1W2
///   rank 2  2F0 3F0 2F1 3F1 2F2 3F2 3I0 2I0 3I1 2I1 3I2 2I2 3W0 2W0 3W1 2W1 3W2 2W2
namespace debubble {
namespace {

Reason why_not_zb_v(const PipelineShape& shape, const GeneratorOptions& options) {
    if (Reason reason = objective_reason(options)) return reason;
    return v_shape_with_costs(shape, options);
}

Schedule zb_v(const PipelineShape& shape, const GeneratorOptions& options) {
    const OrderProblem problem{shape, options.costs, true, {2 * shape.ranks}, wants_span(options)};
    return to_schedule("zb-v", problem, search_v_order(problem, {.way = {4, 2, 4, 2}}));
}

}  // namespace

Generator zb_v_row() {
    return {.name = "zb-v",
            .summary = "zero bubble with two chunks per rank in a V, and 1F1B's memory",
            .source = "arXiv:2401.10241",
            .make = zb_v,
            .why_not = why_not_zb_v,
            .splits_backward = true,
            .stages_per_rank = 2,
            .uses_costs = true,
            .placement = [](const PipelineShape& shape) { return v_placement(shape.ranks); },
            .options = kObjective};
}

}  // namespace debubble
