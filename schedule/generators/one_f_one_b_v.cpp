#include <algorithm>

#include "schedule/generators/generators.h"
#include "schedule/generators/plan_search.h"

/// 1F1B-V (Qi et al., 2024, arXiv:2405.15362, appendix): the V with a fused
/// backward, for two thirds of 1F1B's memory: 2p/3 + 1 microbatches, rounded
/// down, and at most p. Bubble 7.5 forwards at p = 4, 16.5 at p = 8, F = I = W.
///
///   rank 0  ...
namespace debubble {

Schedule one_f_one_b_v(const PipelineShape& shape, const GeneratorOptions& options) {
    const int held = std::min(shape.ranks, 2 * shape.ranks / 3 + 1);
    const OrderProblem problem{shape, options.costs, false, 2 * held};
    return to_schedule("1f1b-v", problem,
                       search_v_order(problem, {.way = {1, 1, 2, 2}, .before_return = 2}));
}

}  // namespace debubble
