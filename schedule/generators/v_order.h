#pragma once

#include "schedule/generators/search/building_block.h"
#include "schedule/generators/search/order_search.h"

namespace debubble {

/// The V family: greedy orders, then building blocks, squeezed or played.
/// `published` are the strides of the schedule's paper and are tried first.
OrderPlan search_v_order(const OrderProblem& problem, const BlockStrides& published);

/// The reason why the V family cannot search for this shape with these costs.
Reason v_shape_with_costs(const PipelineShape& shape, const GeneratorOptions& options);

}  // namespace debubble
