#include "sim/cost/sharding_time.h"

#include <algorithm>

#include "sim/cost/data_parallel.h"
#include "sim/network/collective_cost.h"

namespace debubble::sim {

ShardingTime sharding_time(const scenarios::Scenario& scenario, const ShardedUnits& units,
                           const PassTime& time, PassUse use) {
    const GroupPlacement group = gradient_group(scenario, 0);
    ShardingTime sharding;
    Tier tier = Tier::None;
    const auto takes = [&](CollectiveKind kind, std::int64_t elements, int times) {
        if (elements == 0 || times == 0) return 0.0;
        const Bytes whole{elements * parameter_bytes_sent(scenario)};
        const CollectiveCost cost = collective_cost(kind, whole, group, scenario.cluster);
        for (std::size_t t = 0; t < cost.busy.size(); ++t) sharding.busy[t] += times * cost.busy[t];
        tier = std::max(tier, cost.tier);
        return seconds(cost.total());
    };
    const auto gathering = [&](std::int64_t elements, int times) {
        return use.reads_parameters ? takes(CollectiveKind::AllGather, elements, times) : 0;
    };
    const auto reducing = [&](std::int64_t elements, int times) {
        return use.makes_gradients ? takes(CollectiveKind::ReduceScatter, elements, times) : 0;
    };
    const double root = gathering(units.root(), 1) + reducing(units.root(), 1);
    const double gather = gathering(units.layer, units.layers);
    const double reduce = reducing(units.layer, units.layers);
    sharding.exposed = root;
    if (units.layers == 0) return sharding;

    // Exchanges run during kernels and during a layer's waits on other links, but not while it uses
    // the same link.
    const double free =
        time.layers + time.exposed_in_layers - time.communicating[static_cast<std::size_t>(tier)];
    const double layer = std::max(0.0, free) / units.layers;
    // Forward: the root, then the first layer during the embedding. Backward: during the head.
    const double first = std::max(0.0, gather - time.ends);
    const double inner = (units.layers - 1) * std::max(0.0, gather + reduce - layer);
    sharding.exposed += first + inner + reduce;
    sharding.hidden = root + units.layers * (gather + reduce) - sharding.exposed;
    return sharding;
}

}  // namespace debubble::sim
