#include "sim/sharded_pass.h"

#include <algorithm>

#include "sim/data_parallel.h"
#include "sim/network/collective_cost.h"

namespace debubble::sim {
namespace {

std::int64_t element_bytes(const scenarios::Scenario& scenario) {
    return models::size_of(scenario.training.precision.compute);
}

/// Of gathered units, the part that the rank does not hold anyway.
Bytes foreign_part(const scenarios::Scenario& scenario, std::int64_t elements) {
    const std::int64_t bytes = elements * element_bytes(scenario);
    return Bytes{bytes - bytes / scenario.parallel.replicas()};
}

}  // namespace

bool gathers_in_passes(const scenarios::Scenario& scenario) {
    return scenario.parallel.zero_stage == 3 && scenario.parallel.wrap == scenarios::Wrap::Layer &&
           scenario.parallel.replicas() > 1;
}

double exposed_sharding(const scenarios::Scenario& scenario, const ShardedUnits& units,
                        const PassTime& time, bool backward) {
    const GroupPlacement group = gradient_group(scenario, 0);
    const auto takes = [&](CollectiveKind kind, std::int64_t elements) {
        if (elements == 0) return 0.0;
        const Bytes whole{elements * parameter_bytes_sent(scenario)};
        return seconds(collective_cost(kind, whole, group, scenario.cluster).total());
    };
    const double gather = takes(CollectiveKind::AllGather, units.layer_elements);
    const double reduce = backward ? takes(CollectiveKind::ReduceScatter, units.layer_elements) : 0;
    const double root = takes(CollectiveKind::AllGather, units.root_elements);
    const double root_reduce =
        backward ? takes(CollectiveKind::ReduceScatter, units.root_elements) : 0;
    if (units.layers == 0) return root + root_reduce;

    const double layer = time.layers / units.layers;
    // Forward: the root, then the first layer beside the embedding. Backward: beside the head.
    const double first = std::max(0.0, gather - time.ends);
    const double inner = (units.layers - 1) * std::max(0.0, gather + reduce - layer);
    return root + first + inner + reduce + root_reduce;
}

MemoryByClass sharding_transient(const scenarios::Scenario& scenario, const ShardedUnits& units,
                                 bool backward) {
    const int ahead = std::min(2, units.layers);
    MemoryByClass held{};
    held[static_cast<std::size_t>(MemoryClass::Parameters)] =
        foreign_part(scenario, units.root_elements + ahead * units.layer_elements);
    if (backward)
        held[static_cast<std::size_t>(MemoryClass::Gradients)] =
            Bytes{std::max(units.layer_elements, units.root_elements) * element_bytes(scenario)};
    return held;
}

}  // namespace debubble::sim
