#pragma once

#include "models/kernel_options.h"
#include "sim/network/collective_cost.h"

namespace debubble::sim {

/// The rows that an expert-parallel group sends to its experts, or gets back from them.
struct ExpertExchange {
    Bytes bytes;             ///< rows of all ranks of the group together
    std::int64_t per_token;  ///< rows of each token
    std::int64_t experts;    ///< of the layer, spread evenly over the group
    models::Dispatcher by{};
};

/// The expected number of `groups` equal groups of experts to which a token sends at least one of
/// its rows, all experts being as likely: G (1 - C(E - E/G, k) / C(E, k)) (DeepEP dd758ca,
/// deep_ep/buffers/elastic.py).
double groups_hit(std::int64_t groups, std::int64_t experts, std::int64_t per_token);

/// The time of the exchange. The collective library sends every row by itself. DeepEP and HybridEP
/// send a token once to each node that has an expert for it, over the network, and from there once
/// to each rank. A dispatcher that gathers brings all tokens to all ranks.
CollectiveCost expert_exchange_cost(const ExpertExchange& exchange, const GroupPlacement& group,
                                    const scenarios::Cluster& cluster);

}  // namespace debubble::sim
