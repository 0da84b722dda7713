#include "schedule/generators/generators.h"
#include "schedule/generators/plan_search.h"
#include "schedule/generators/shape_needs.h"

/// ZB-V (Qi et al., 2023, arXiv:2401.10241, section 6; its building block in
/// 2405.15362): two chunks per rank in a V, so that the rank with the first
/// forward has the loss too. No bubble in span at F = I = W, with the p
/// microbatches that 1F1B holds. Searches with the given costs.
///
///   rank 0  ...
namespace debubble {

Reason why_not_v_shape(const PipelineShape& shape, const GeneratorOptions& options) {
    if (Reason reason = shape_reason(shape, {.stages_per_rank = 2})) return reason;
    return costs_reason(shape, options.costs);
}

Schedule zb_v(const PipelineShape& shape, const GeneratorOptions& options) {
    const OrderProblem problem{shape, options.costs, true, 2 * shape.ranks};
    return to_schedule("zb-v", problem, search_v_order(problem, {.way = {4, 2, 4, 2}}));
}

}  // namespace debubble
