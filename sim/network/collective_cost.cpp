#include "sim/network/collective_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/execution/laws.h"
#include "scenarios/cluster/measured.h"

namespace debubble::sim {
namespace {

/// Seconds that the phases of an algorithm take on each tier.
struct Phases {
    double latency = 0;
    double node = 0;
    double network = 0;
    double spine = 0;
    double slowest() const { return std::max({node, network, spine}); }
    double total() const { return latency + slowest(); }
};

double share(int members) {
    return static_cast<double>(members - 1) / members;
}

/// The bytes that every member of a ring sends, relative to the whole tensor.
double ring_volume(CollectiveKind kind, int members) {
    switch (kind) {
        case CollectiveKind::AllReduce: return 2 * share(members);
        case CollectiveKind::AllGather:
        case CollectiveKind::ReduceScatter: return share(members);
        case CollectiveKind::Broadcast: return members > 1 ? 1 : 0;
        case CollectiveKind::AllToAll: return share(members) / members;
    }
    return 0;
}

int ring_rounds(CollectiveKind kind) {
    return kind == CollectiveKind::AllReduce ? 2 : 1;
}

class Pricer {
public:
    Pricer(CollectiveKind kind, Bytes size, const GroupPlacement& group,
           const scenarios::Cluster& cluster)
        : kind_(kind), size_(static_cast<double>(size.count)), group_(group), cluster_(cluster) {}

    Phases ring() const {
        if (group_.nodes < 2) return ring(models::RingProtocol{});
        std::optional<Phases> best;
        for (const models::RingProtocol& protocol : models::laws().nccl_protocols) {
            const Phases phases = ring(protocol);
            if (!best || phases.total() <= best->total()) best = phases;
        }
        return best.value_or(Phases{});
    }

    Phases ring(const models::RingProtocol& protocol) const {
        const int hops = ring_rounds(kind_) * (group_.size - 1);
        const int far = ring_rounds(kind_) * (group_.nodes - 1);
        const double volume = ring_volume(kind_, group_.size) / protocol.bandwidth;
        Phases phases;
        phases.latency = latency(protocol.near_hop * (hops - far), protocol.far_hop * far);
        phases.node = in_node(volume);
        // Every ring enters and leaves each node (and each leaf) once; in an all-to-all, everything
        // for other nodes crosses.
        double crossing = volume;
        if (kind_ == CollectiveKind::AllToAll)
            crossing = group_.per_node * static_cast<double>(group_.size - group_.per_node) /
                       group_.size / group_.size / protocol.bandwidth;
        add_network(phases, crossing);
        return phases;
    }

    /// Each node is inside one of two trees and a leaf of the other: it sends up one
    /// half twice and down one half twice.
    Phases tree() const {
        const int depth = std::bit_width(static_cast<unsigned>(group_.nodes - 1));
        const int rounds = ring_rounds(kind_);
        Phases phases;
        phases.latency = latency(rounds * (group_.per_node - 1), rounds * depth);
        const double volume = rounds / models::laws().tree_bandwidth;
        phases.node = group_.per_node > 1 ? in_node(volume) : 0;
        add_network(phases, volume);
        return phases;
    }

    Phases hierarchical() const {
        const int rounds = ring_rounds(kind_);
        Phases phases;
        phases.latency = latency(rounds * (group_.per_node - 1), rounds * (group_.nodes - 1));
        phases.node = in_node(ring_volume(kind_, group_.per_node));
        add_network(phases, ring_volume(kind_, group_.nodes));
        return phases;
    }

private:
    double latency(double near_hops, double far_hops) const {
        return seconds(cluster_.node_link.base_latency) +
               std::max(0.0, near_hops) * seconds(cluster_.node_link.latency) +
               far_hops * seconds(cluster_.network.latency);
    }
    double in_node(double volume) const {
        if (group_.per_node < 2 || size_ <= 0) return 0;
        const double half = static_cast<double>(cluster_.node_link.half_bandwidth_size.count);
        return volume * size_ / (node_bandwidth(cluster_, group_.per_node).value * of_kind()) *
               (1 + std::sqrt(half / message()));
    }
    /// The size on which the share of the bandwidth depends: the whole tensor, or for an
    /// all-to-all, whose whole no member holds, one member's buffer.
    double message() const {
        return kind_ == CollectiveKind::AllToAll ? size_ / group_.size : size_;
    }
    /// The bandwidth of the kind relative to that of gathers, measured inside a node.
    double of_kind() const {
        if (group_.nodes > 1) return 1;
        if (kind_ == CollectiveKind::AllReduce) return cluster_.node_link.all_reduce_bandwidth;
        if (kind_ == CollectiveKind::AllToAll) return cluster_.node_link.all_to_all_bandwidth;
        return 1;
    }
    void add_network(Phases& phases, double volume) const {
        if (group_.nodes < 2) return;
        const double bandwidth = network_bandwidth(cluster_).value;
        phases.network = volume * size_ * group_.groups_per_node / bandwidth;
        if (group_.leaves < 2) return;
        const double uplinks =
            bandwidth * *cluster_.network.nodes_per_leaf / cluster_.network.oversubscription;
        phases.spine = volume * size_ * group_.groups_per_leaf / uplinks;
    }

    CollectiveKind kind_;
    double size_;
    const GroupPlacement& group_;
    const scenarios::Cluster& cluster_;
};

bool can(CollectiveAlgorithm algorithm, CollectiveKind kind, const GroupPlacement& group) {
    const bool one_node = group.nodes == 1;
    switch (algorithm) {
        case CollectiveAlgorithm::Ring: return true;
        case CollectiveAlgorithm::Tree:
            return !one_node &&
                   (kind == CollectiveKind::AllReduce || kind == CollectiveKind::Broadcast);
        case CollectiveAlgorithm::Hierarchical:
            return !one_node && group.per_node > 1 &&
                   (kind == CollectiveKind::AllReduce || kind == CollectiveKind::Broadcast);
    }
    return false;
}

std::optional<models::Collective::Kind> measured_kind(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::AllReduce: return models::Collective::Kind::AllReduce;
        case CollectiveKind::AllGather: return models::Collective::Kind::AllGather;
        case CollectiveKind::ReduceScatter: return models::Collective::Kind::ReduceScatter;
        case CollectiveKind::AllToAll: return models::Collective::Kind::AllToAll;
        case CollectiveKind::Broadcast: break;
    }
    return std::nullopt;
}

/// The cost of a group of exactly this size inside a node, on a calibrated machine.
std::optional<CollectiveCost> measured_cost(CollectiveKind kind, Bytes size,
                                            const GroupPlacement& group,
                                            const scenarios::Cluster& cluster) {
    const auto of = measured_kind(kind);
    if (!cluster.measured || !of || group.nodes > 1 || group.size < 2) return std::nullopt;
    const auto at = cluster.measured->collectives.find({*of, group.size});
    if (at == cluster.measured->collectives.end()) return std::nullopt;
    CollectiveCost cost{at->second.latency, size / at->second.bandwidth, {}};
    cost.busy[Tier::Node] = seconds(cost.transfer);
    return cost;
}

}  // namespace

CollectiveCost operator+(CollectiveCost one, const CollectiveCost& then) {
    one.latency += then.latency;
    one.transfer += then.transfer;
    add(one.busy, then.busy);
    return one;
}

BytesPerSecond node_bandwidth(const scenarios::Cluster& cluster, int members) {
    const scenarios::NodeLink& link = cluster.node_link;
    // A bridge joins two GPUs; larger groups use PCIe.
    if (link.kind == scenarios::NodeLink::Kind::Pairs && members > 2) return cluster.gpu.host_link;
    double efficiency = link.efficiency;
    const auto above = link.group_efficiency.upper_bound(members);
    if (above != link.group_efficiency.begin()) efficiency = std::prev(above)->second;
    return {link.bandwidth.value * efficiency};
}

BytesPerSecond network_bandwidth(const scenarios::Cluster& cluster) {
    const scenarios::NodeNetwork& network = cluster.network;
    return {network.nics_per_node * network.nic_bandwidth.value * network.efficiency};
}

std::optional<CollectiveCost> collective_cost(CollectiveKind kind, Bytes size,
                                              const GroupPlacement& group,
                                              const scenarios::Cluster& cluster,
                                              CollectiveAlgorithm algorithm) {
    if (group.size < 2) return CollectiveCost{};
    if (!can(algorithm, kind, group)) return std::nullopt;
    const Pricer pricer(kind, size, group, cluster);
    Phases phases;
    switch (algorithm) {
        case CollectiveAlgorithm::Ring: phases = pricer.ring(); break;
        case CollectiveAlgorithm::Tree: phases = pricer.tree(); break;
        case CollectiveAlgorithm::Hierarchical: phases = pricer.hierarchical(); break;
    }
    const double slowest = phases.slowest();
    CollectiveCost cost;
    cost.transfer = from_seconds(slowest);
    cost.busy = {0, phases.node, phases.network, phases.spine};
    double fixed = phases.latency;
    if (algorithm == CollectiveAlgorithm::Hierarchical)  // one phase after the other
        fixed += phases.node + std::max(phases.network, phases.spine) - slowest;
    cost.latency = from_seconds(fixed);
    return cost;
}

CollectiveCost collective_cost(CollectiveKind kind, Bytes size, const GroupPlacement& group,
                               const scenarios::Cluster& cluster) {
    std::optional<CollectiveCost> best = measured_cost(kind, size, group, cluster);
    if (best) return *best;
    for (const CollectiveAlgorithm algorithm :
         {CollectiveAlgorithm::Ring, CollectiveAlgorithm::Tree,
          CollectiveAlgorithm::Hierarchical}) {
        const auto cost = collective_cost(kind, size, group, cluster, algorithm);
        if (cost && (!best || cost->total() < best->total())) best = cost;
    }
    return *best;
}

}  // namespace debubble::sim
