#include "sim/cost/sharding_time.h"

#include <algorithm>
#include <cmath>

#include "sim/cost/data_parallel.h"
#include "sim/cost/kernel_cost.h"
#include "sim/network/collective_cost.h"

namespace debubble::sim {
namespace {

/// Prices gathers and reductions of one unit.
class Units {
public:
    Units(const scenarios::Scenario& scenario, PassUse use)
        : scenario_(scenario),
          use_(use),
          shards_(gradient_group(scenario, 0, ReplicaGroup::Shards)),
          copies_(gradient_group(scenario, 0, ReplicaGroup::Copies)),
          expert_shards_(expert_gradient_group(scenario, 0, ReplicaGroup::Shards)),
          expert_copies_(expert_gradient_group(scenario, 0, ReplicaGroup::Copies)),
          gathers_(use.reads_parameters &&
                   (scenario.parallel.reshard || !(use.makes_gradients || use.is_backward_input))) {
    }

    /// Experts are sharded over the fewer ranks that have them. A share of the elements are weights
    /// of products in 8 or 4 bits.
    double gathering(std::int64_t dense, std::int64_t experts, int times, double narrow = 0) {
        if (!gathers_) return 0;
        const auto wide = static_cast<double>(parameter_bytes_sent(scenario_));
        const double width = wide + narrow * (narrow_parameter_bytes_sent(scenario_) - wide);
        const auto over = [&](std::int64_t elements, const GroupPlacement& shards) {
            return takes(CollectiveKind::AllGather,
                         std::llround(width * static_cast<double>(elements)), shards, times);
        };
        return over(dense, shards_) + over(experts, expert_shards_);
    }
    /// Copies of a shard add up what each of their groups has reduced.
    double reducing(std::int64_t dense, std::int64_t experts, int times) {
        if (!use_.makes_gradients) return 0;
        const auto over = [&](std::int64_t elements, const GroupPlacement& shards,
                              const GroupPlacement& copies) {
            const std::int64_t bytes = elements * gradient_bytes_sent(scenario_);
            return takes(CollectiveKind::ReduceScatter, bytes, shards, times) +
                   takes(CollectiveKind::AllReduce, bytes / shards.size, copies, times);
        };
        return over(dense, shards_, copies_) + over(experts, expert_shards_, expert_copies_);
    }
    /// The cast of a shard reads fp32 and writes the compute type, the slot of the gather takes a
    /// copy of it, and another copy brings the whole into parameters; gradients are copied into the
    /// type and order in which they are reduced.
    double copying(std::int64_t elements) const {
        if (!scenario_.framework.casts_shards) return 0;
        const std::int64_t sent = parameter_bytes_sent(scenario_);
        const std::int64_t reduced = gradient_bytes_sent(scenario_);
        const std::int64_t own = elements / shards_.size;
        double bytes = 0;
        if (gathers_)
            bytes += static_cast<double>(own * (4 + sent) + own * 2 * sent + elements * 2 * sent);
        if (use_.makes_gradients) bytes += static_cast<double>(elements * (sent + reduced));
        return bytes / effective_memory_bandwidth(scenario_.cluster.gpu).value;
    }

    ShardingTime time;
    Tier tier = Tier::None;

private:
    double takes(CollectiveKind kind, std::int64_t bytes, const GroupPlacement& group, int times) {
        if (bytes == 0 || times == 0 || group.size < 2) return 0;
        const CollectiveCost cost = collective_cost(kind, Bytes{bytes}, group, scenario_.cluster);
        for (std::size_t t = 0; t < cost.busy.size(); ++t) time.busy[t] += times * cost.busy[t];
        time.collectives += times;
        tier = std::max(tier, cost.tier);
        return seconds(cost.total());
    }

    const scenarios::Scenario& scenario_;
    PassUse use_;
    GroupPlacement shards_;
    GroupPlacement copies_;
    GroupPlacement expert_shards_;
    GroupPlacement expert_copies_;
    bool gathers_;
};

}  // namespace

ShardingTime sharding_time(const scenarios::Scenario& scenario, const ShardedUnits& units,
                           const PassTime& time, PassUse use) {
    Units prices(scenario, use);
    const double root = prices.gathering(units.root(), 0, 1) + prices.reducing(units.root(), 0, 1);
    const std::int64_t dense = units.layer - units.layer_experts;
    const double narrow =
        units.layer > 0 ? static_cast<double>(units.layer_narrow) / static_cast<double>(units.layer)
                        : 0;
    const double gather = prices.gathering(dense, units.layer_experts, units.layers, narrow);
    const double reduce = prices.reducing(dense, units.layer_experts, units.layers);
    const double copies = prices.copying(units.layer);
    ShardingTime sharding = prices.time;
    sharding.copies = prices.copying(units.root()) + units.layers * copies;
    sharding.exposed = root;
    if (units.layers == 0) return sharding;

    // Exchanges run during kernels and during a layer's waits on other links, but not while it uses
    // the same link.
    const double free = time.layers + time.exposed_in_layers -
                        time.communicating[static_cast<std::size_t>(prices.tier)];
    const double layer = std::max(0.0, free) / units.layers + copies;
    const double taken = taken_by_collectives(scenario);
    const auto left_of = [&](double exchange, double kernels) {
        return seconds_beside(exchange, kernels, taken) - kernels;
    };
    // Forward: the root, then the first layer during the embedding. Backward: during the head.
    const double first = left_of(gather, time.ends);
    const double inner = (units.layers - 1) * left_of(gather + reduce, layer);
    sharding.exposed += first + inner + reduce;
    sharding.hidden = root + units.layers * (gather + reduce) - sharding.exposed;
    return sharding;
}

}  // namespace debubble::sim
