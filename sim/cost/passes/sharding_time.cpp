#include "sim/cost/passes/sharding_time.h"

#include <algorithm>

#include "sim/cost/passes/contention.h"

namespace debubble::sim {

ShardingTime sharding_time(const scenarios::Scenario& scenario, const ShardedUnits& units,
                           const PassTime& time, PassUse use) {
    ShardingPrices prices(scenario, use, units.layer_tensors);
    const double root =
        alone(prices.gathering(units.root(), 0, 1)) + alone(prices.reducing(units.root(), 0, 1));
    const std::int64_t dense = units.layer - units.layer_experts;
    const double narrow =
        units.layer > 0 ? static_cast<double>(units.layer_narrow) / static_cast<double>(units.layer)
                        : 0;
    const ShardingSeconds gather =
        prices.gathering(dense, units.layer_experts, units.layers, narrow);
    const ShardingSeconds reduce = prices.reducing(dense, units.layer_experts, units.layers);
    const double copies = prices.copying(units.layer);
    ShardingTime sharding = prices.time;
    sharding.copies = prices.copying(units.root()) + units.layers * copies;
    sharding.exposed = root;
    if (units.layers == 0) return sharding;

    const Contention contention = contention_of_replicas(scenario);
    const auto left_of = [&](double exchange, double kernels) {
        return overlapped_seconds(exchange, kernels, contention) - kernels;
    };
    // Collectives overlap kernels and a layer's waits, but on no tier while the layer uses its
    // links: the tier with the most remaining decides.
    const auto left_in_layer = [&](const ShardingSeconds& exchange) {
        double left = 0;
        for (std::size_t tier = 0; tier < exchange.size(); ++tier) {
            const double free = time.layers + time.exposed_in_layers - time.communicating[tier];
            const double layer = std::max(0.0, free) / units.layers + copies;
            left = std::max(left, left_of(exchange[tier], layer));
        }
        return left;
    };
    // Forward: the root, then the first layer during the embedding. Backward: during the head.
    const double first = left_of(alone(gather), time.ends);
    const double inner = (units.layers - 1) * left_in_layer(gather + reduce);
    sharding.exposed += first + inner + alone(reduce);
    sharding.hidden = root + units.layers * alone(gather + reduce) - sharding.exposed;
    return sharding;
}

}  // namespace debubble::sim
