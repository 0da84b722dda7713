#include "sim/network/collective_cost.h"

#include <algorithm>
#include <cmath>

#include "models/execution/laws.h"

namespace debubble::sim {
namespace {

/// Seconds of a kernel that receives tokens from the network while it forwards others within the
/// node; the arguments are the seconds of each alone.
double seconds_of_hops(double network, double node, models::Dispatcher by) {
    const double power = by == models::Dispatcher::HybridEp ? models::laws().hybridep_hops
                                                            : models::laws().deepep_hops;
    return std::pow(std::pow(network, power) + std::pow(node, power), 1 / power);
}

/// The all-to-all with each token sent once per node and once per rank there.
CollectiveCost once_per_group(const ExpertAllToAll& exchange, const GroupPlacement& group,
                              const scenarios::Cluster& cluster) {
    const double rows = static_cast<double>(exchange.bytes.count) / group.size;
    const double token = rows / static_cast<double>(exchange.routing.per_token);
    const double nodes = expected_destinations(group.nodes, exchange.routing);
    const double ranks = expected_destinations(group.size, exchange.routing);
    // A token reaches its own node and rank without a link; in each other node the rank of the same
    // rail receives it from the network and forwards it to the others.
    const double away = 1 - 1.0 / group.nodes;
    const double over_network = nodes * away * token;
    const double arrives = ranks * away / group.per_node + ranks / group.size;
    const double over_links = std::max(0.0, ranks - arrives) * token;
    CollectiveCost all = collective_cost(CollectiveKind::AllToAll, exchange.bytes, group, cluster);
    double network = 0;
    if (group.nodes > 1)
        network = over_network * group.per_node * group.groups_per_node /
                  network_bandwidth(cluster).value;
    const double node =
        group.per_node > 1 ? over_links / node_bandwidth(cluster, group.per_node).value : 0;
    const double wire = all.busy[Tier::Network];
    const double uplinks = wire > 0 ? all.busy[Tier::Spine] * network / wire : 0;
    all.busy = {0, node, network, uplinks};
    // One kernel writes to all ranks at once: there are no rounds of peers, unlike in the library.
    all.latency = cluster.node_link.base_latency + cluster.node_link.latency;
    if (group.nodes > 1) all.latency += cluster.network.latency;
    all.transfer = from_seconds(seconds_of_hops(std::max(network, uplinks), node, exchange.by));
    return all;
}

}  // namespace

CollectiveCost expert_all_to_all_cost(const ExpertAllToAll& exchange, const GroupPlacement& group,
                                      const scenarios::Cluster& cluster) {
    if (group.size < 2) return {};
    switch (exchange.by) {
        case models::Dispatcher::AllToAll: break;
        case models::Dispatcher::AllGather:
            return collective_cost(CollectiveKind::AllGather,
                                   Bytes{exchange.bytes.count / exchange.routing.per_token}, group,
                                   cluster);
        case models::Dispatcher::DeepEp:
        case models::Dispatcher::HybridEp: return once_per_group(exchange, group, cluster);
    }
    return collective_cost(CollectiveKind::AllToAll, exchange.bytes, group, cluster);
}

}  // namespace debubble::sim
