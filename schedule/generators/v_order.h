#pragma once

#include "schedule/generators/building_block.h"
#include "schedule/generators/order_search.h"

namespace debubble {

/// The V family: greedy orders, then building blocks, squeezed or played.
/// `published` are the strides of the schedule's paper and are tried first.
Plan search_v_order(const OrderProblem& problem, const BlockStrides& published);

}  // namespace debubble
