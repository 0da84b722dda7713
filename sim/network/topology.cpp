#include "sim/network/topology.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::sim {
namespace {

Bytes bytes_in(double seconds, double bytes_per_second) {
    constexpr double kMost = 4e18;
    const double bytes = seconds * bytes_per_second;
    if (!(bytes <= kMost))
        throw InputError(
            fmt::format("a transfer of {:.1e} bytes is more than can be simulated: one of the "
                        "cluster's rates is far too low or too high",
                        bytes));
    return {std::llround(bytes)};
}

}  // namespace

Topology::Topology(const scenarios::Scenario& scenario)
    : cluster_(scenario.cluster),
      ranks_per_pipeline_rank_(scenario.parallel.tensor * scenario.parallel.context *
                               scenario.parallel.data) {
    ways_.reserve(scenario.parallel.pipeline);
    for (int p = 0; p < scenario.parallel.pipeline; ++p) ways_.push_back(ways_of(p));
}

Link Topology::add(double bytes_per_second) {
    links_.push_back({bytes_per_second});
    return static_cast<Link>(links_.size()) - 1;
}

/// The ways of the replica with the lowest global rank; all others have equal ones.
Topology::Ways Topology::ways_of(int pipeline) {
    const int first = pipeline * ranks_per_pipeline_rank_;
    const int gpus = std::max(1, cluster_.gpus_per_node);
    const auto find_or_add = [&](std::vector<Shared>& known, int id, double rate) {
        const auto at = std::ranges::find(known, id, &Shared::id);
        if (at != known.end()) return *at;
        known.push_back({id, add(rate), add(rate)});
        return known.back();
    };

    Ways ways;
    const double fabric = node_bandwidth(cluster_, 2).value;
    ways.node_out = add(fabric);
    ways.node_in = add(fabric);
    ways.host = add(cluster_.gpu.host_link.value);

    // GPU g of a node uses card g x cards / GPUs.
    const scenarios::NodeNetwork& network = cluster_.network;
    const int nics = std::max(1, network.nics_per_node);
    const int local = first % gpus;
    const int in_node = std::min(ranks_per_pipeline_rank_, gpus - local);
    int sharers = 0;
    for (int g = local; g < local + in_node; ++g)
        sharers += g * nics / gpus == local * nics / gpus ? 1 : 0;
    const int card = first / gpus * nics + local * nics / gpus;
    const double card_rate = network.nic_bandwidth.value * network.efficiency / sharers;
    const Shared nic = find_or_add(nics_, card, card_rate);
    ways.nic_out = nic.out;
    ways.nic_in = nic.in;

    if (network.nodes_per_leaf > 0) {
        // The rate that one of the node's active GPUs gets of its uplinks, in the unit of the
        // cards.
        const double nodes =
            std::max(1, std::min(network.nodes_per_leaf, ranks_per_pipeline_rank_ / gpus));
        const double uplinks =
            network_bandwidth(cluster_).value * network.nodes_per_leaf / network.oversubscription;
        const Shared leaf = find_or_add(leaves_, first / gpus / network.nodes_per_leaf,
                                        uplinks / (nodes * in_node));
        ways.leaf_up = leaf.out;
        ways.leaf_down = leaf.in;
    }
    return ways;
}

bool Topology::same_node(Rank a, Rank b) const {
    const int gpus = std::max(1, cluster_.gpus_per_node);
    const int count = ranks_per_pipeline_rank_;
    for (int i = 0; i < std::min(count, gpus); ++i)
        if ((a.index * count + i) / gpus != (b.index * count + i) / gpus) return false;
    return true;
}

Flow Topology::message(Rank from, Rank to, Bytes bytes, Duration latency) const {
    const Ways& source = ways_[from.index];
    const Ways& target = ways_[to.index];
    Flow flow;
    flow.latency = latency;
    flow.bytes = bytes;
    if (same_node(from, to))
        flow.links = {source.node_out, target.node_in};
    else if (source.leaf_up == target.leaf_up)
        flow.links = {source.nic_out, target.nic_in};
    else
        flow.links = {source.nic_out, target.nic_in, *source.leaf_up, *target.leaf_down};
    return flow;
}

Flow Topology::collective(const CollectiveCost& cost, Bytes payload,
                          std::span<const Rank> participants) const {
    Flow flow;
    flow.latency = cost.latency;
    flow.payload = payload;
    const auto of = [&](Tier tier) { return cost.busy[static_cast<std::size_t>(tier)]; };
    std::array tiers{Tier::Node, Tier::Network, Tier::Spine};
    std::ranges::stable_sort(tiers, std::greater{}, of);
    const double longest = of(tiers.front());
    // Collectives one after the other may take longer together than any tier is busy.
    flow.latency += std::max(Duration{}, cost.transfer - from_seconds(longest));
    for (const Tier tier : tiers) {
        const LinkBytes part = occupying(tier, of(tier), participants);
        if (part.bytes.count == 0) continue;
        if (flow.links.empty()) {
            flow.bytes = part.bytes;
            flow.links = part.links;
        } else {
            flow.also.push_back(part);
        }
    }
    return flow;
}

LinkBytes Topology::occupying(Tier tier, double seconds, std::span<const Rank> participants) const {
    LinkBytes part;
    double slowest = 0;
    for (const Rank rank : participants)
        for (const Link link : links_of(tier, ways_[rank.index])) {
            if (part.links.full()) continue;
            part.links.push_back(link);
            slowest = slowest == 0 ? capacity(link) : std::min(slowest, capacity(link));
        }
    part.bytes = bytes_in(seconds, slowest);
    return part;
}

InnerFlow Topology::inner_flow(Tier tier, double seconds, Rank rank) const {
    const InlineVector<Link, 2> links = links_of(tier, ways_[rank.index]);
    if (links.empty()) return {};
    double rate = capacity(links.front());
    for (const Link link : links) rate = std::min(rate, capacity(link));
    return {bytes_in(seconds, rate), links};
}

InlineVector<Link, 2> Topology::links_of(Tier tier, const Ways& ways) {
    if (tier == Tier::Node) return {ways.node_out, ways.node_in};
    if (tier == Tier::Network) return {ways.nic_out, ways.nic_in};
    if (!ways.leaf_up) return {};
    return {*ways.leaf_up, *ways.leaf_down};
}

Flow Topology::host_copy(Rank rank, Bytes bytes) const {
    Flow flow;
    flow.bytes = flow.payload = bytes;
    flow.links = {ways_[rank.index].host};
    return flow;
}

}  // namespace debubble::sim
