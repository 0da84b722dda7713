#pragma once

#include "models/operators/kernel.h"
#include "sim/network/collective_cost.h"

namespace debubble::sim {

/// The rows that an expert-parallel group sends to its experts, or gets back from them.
struct ExpertExchange {
    Bytes bytes;  ///< rows of all ranks of the group together
    models::Routing routing;
    models::Dispatcher by{};
};

/// The time of the exchange. The collective library sends every row by itself. DeepEP and HybridEP
/// send a token once to each node that has an expert for it, over the network, and from there once
/// to each rank. A dispatcher that gathers brings all tokens to all ranks.
CollectiveCost expert_exchange_cost(const ExpertExchange& exchange, const GroupPlacement& group,
                                    const scenarios::Cluster& cluster);

}  // namespace debubble::sim
