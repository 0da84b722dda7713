#pragma once

#include "models/operators/kernel.h"
#include "sim/network/collective_cost.h"

namespace debubble::sim {

/// The tokens that an expert-parallel group sends to its experts, or receives from them.
struct ExpertAllToAll {
    Bytes bytes;  ///< one copy of a token per chosen expert, over all ranks of the group
    models::Routing routing;
    models::Dispatcher by{};
};

/// The time of the all-to-all. The collective library sends every copy of a token by itself. DeepEP
/// and HybridEP send a token once to each node that has an expert for it, over the network, and
/// from there once to each rank. A dispatcher that gathers sends all tokens to all ranks.
CollectiveCost expert_all_to_all_cost(const ExpertAllToAll& exchange, const GroupPlacement& group,
                                      const scenarios::Cluster& cluster);

}  // namespace debubble::sim
