#include "sim/cost/passes/sharding_time.h"

#include <algorithm>
#include <cmath>

#include "sim/cost/kernels/kernel_cost.h"
#include "sim/cost/passes/data_parallel.h"

namespace debubble::sim {

ShardingPrices::ShardingPrices(const scenarios::Scenario& scenario, PassUse use, int tensors)
    : scenario_(scenario),
      use_(use),
      shards_(gradient_group(scenario, 0, ReplicaGroup::Shards)),
      copies_(gradient_group(scenario, 0, ReplicaGroup::Copies)),
      expert_shards_(expert_gradient_group(scenario, 0, ReplicaGroup::Shards)),
      expert_copies_(expert_gradient_group(scenario, 0, ReplicaGroup::Copies)),
      gathers_(use.reads_parameters &&
               (scenario.parallel.reshard || !(use.makes_gradients || use.is_backward_input))),
      pieces_(scenario.framework.gather == scenarios::Gather::Parameter ? tensors : 1) {}

ShardingSeconds ShardingPrices::gathering(std::int64_t dense, std::int64_t experts, int times,
                                          double narrow) {
    if (!gathers_) return {};
    const auto wide = static_cast<double>(parameter_bytes_sent(scenario_));
    const double width = wide + narrow * (narrow_parameter_bytes_sent(scenario_) - wide);
    const auto over = [&](std::int64_t elements, const GroupPlacement& shards) {
        return takes(CollectiveKind::AllGather, std::llround(width * static_cast<double>(elements)),
                     shards, times);
    };
    return over(dense, shards_) + over(experts, expert_shards_);
}

ShardingSeconds ShardingPrices::reducing(std::int64_t dense, std::int64_t experts, int times) {
    if (!use_.makes_gradients) return {};
    const auto over = [&](std::int64_t elements, const GroupPlacement& shards,
                          const GroupPlacement& copies) {
        const std::int64_t bytes = elements * gradient_bytes_sent(scenario_);
        return takes(CollectiveKind::ReduceScatter, bytes, shards, times) +
               takes(CollectiveKind::AllReduce, bytes / shards.size, copies, times);
    };
    return over(dense, shards_, copies_) + over(experts, expert_shards_, expert_copies_);
}

double ShardingPrices::copying(std::int64_t elements) const {
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

/// A rank's shard of one parameter is a megabyte or less, for which NCCL opens a single channel,
/// which uses one adapter of a node: ZeRO-3 of GPT-3 175B took as long on 768 A100 with two
/// sequences as on 1,536 with one, the time of its bytes over one adapter (arXiv:2104.04473, table
/// 2).
scenarios::Cluster ShardingPrices::with_one_adapter(const GroupPlacement& group) const {
    scenarios::Cluster cluster = scenario_.cluster;
    cluster.network.nics_per_node = std::min(cluster.network.nics_per_node, group.groups_per_node);
    return cluster;
}

ShardingSeconds ShardingPrices::takes(CollectiveKind kind, std::int64_t bytes,
                                      const GroupPlacement& group, int times) {
    if (bytes == 0 || times == 0 || group.size < 2) return {};
    const Bytes piece{(bytes + pieces_ - 1) / pieces_};
    const bool by_itself = scenario_.framework.gather == scenarios::Gather::Parameter;
    CollectiveCost cost = by_itself ? collective_cost(kind, piece, group, with_one_adapter(group))
                                    : collective_cost(kind, piece, group, scenario_.cluster);
    cost.latency *= pieces_;
    cost.transfer *= pieces_;
    for (double& busy : cost.busy) busy *= pieces_;
    time.collectives += times * pieces_;
    time.bytes += static_cast<double>(times) * static_cast<double>(bytes);
    ShardingSeconds takes{seconds(cost.total())};
    for (std::size_t tier = 1; tier < takes.size(); ++tier) {
        time.busy[tier] += times * cost.busy[tier];
        if (cost.busy[tier] > 0) takes[tier] = seconds(cost.latency) + cost.busy[tier];
    }
    return takes;
}

}  // namespace debubble::sim
