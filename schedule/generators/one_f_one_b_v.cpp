#include <algorithm>

#include "schedule/generators/generator.h"
#include "schedule/generators/v_order.h"

/// 1F1B-V (Qi et al., 2024, arXiv:2405.15362, appendix): the V with a fused
/// backward, for two thirds of 1F1B's memory: 2p/3 + 1 microbatches, rounded
/// down, and at most p. Bubble 7.5 forwards at p = 4, 16.5 at p = 8, F = I = W.
///
///   rank 0  0F0 0F1 0F2 5F0 5B0 5F1 5B1 5F2 5B2 0B0 0B1 0B2
///   rank 1  1F0 1F1 1F2 4F0 4F1 4B0 4F2 4B1 1B0 4B2 1B1 1B2
///   rank 2  2F0 3F0 2F1 3F1 2F2 3F2 3B0 2B0 3B1 2B1 3B2 2B2
namespace debubble {
namespace {

Schedule one_f_one_b_v(const PipelineShape& shape, const GeneratorOptions& options) {
    const int held = std::min(shape.ranks, 2 * shape.ranks / 3 + 1);
    const OrderProblem problem{shape, options.costs, false, {2 * held}};
    return to_schedule("1f1b-v", problem,
                       search_v_order(problem, {.way = {1, 1, 2, 2}, .before_return = 2}));
}

}  // namespace

Generator one_f_one_b_v_row() {
    return {.name = "1f1b-v",
            .summary = "two chunks per rank in a V, backward fused, two thirds of 1F1B's memory",
            .source = "arXiv:2405.15362",
            .make = one_f_one_b_v,
            .why_not = v_shape_with_costs,
            .stages_per_rank = 2,
            .uses_costs = true,
            .placement = [](const PipelineShape& shape) { return v_placement(shape.ranks); }};
}

}  // namespace debubble
