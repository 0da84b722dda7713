#include "sim/network/topology.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

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

Topology::Topology(const scenarios::Scenario& scenario) : cluster_(scenario.cluster) {
    const int pipeline = scenario.parallel.pipeline;
    const int gpus = std::max(1, cluster_.gpus_per_node);
    const RankSet first = ranks_of_pipeline_rank(scenario.parallel, 0);
    pipeline_stride_ = ranks_of_pipeline_rank(scenario.parallel, 1).first();
    std::vector<bool> seen(gpus, false);
    first.for_each([&](int rank) {
        if (seen[rank % gpus]) return;
        seen[rank % gpus] = true;
        replica_places_.push_back(rank % gpus);
    });
    ways_.reserve(pipeline);
    for (int p = 0; p < pipeline; ++p)
        ways_.push_back(ways_of(ranks_of_pipeline_rank(scenario.parallel, p)));
}

Link Topology::add(double bytes_per_second) {
    links_.push_back({bytes_per_second});
    return static_cast<Link>(links_.size()) - 1;
}

/// The ways of the replica with the lowest global rank; all others have equal ones.
Topology::Ways Topology::ways_of(const RankSet& ranks) {
    const int first = ranks.first();
    const int gpus = std::max(1, cluster_.gpus_per_node);
    const int nics = std::max(1, cluster_.network.nics_per_node);
    const std::optional<int> nodes_per_leaf = cluster_.network.nodes_per_leaf;
    const auto leaf_of = [&](int rank) { return rank / (*nodes_per_leaf * gpus); };
    // GPU g of a node uses card g x cards / GPUs.
    const auto card_of = [&](int rank) { return rank / gpus * nics + rank % gpus * nics / gpus; };
    int sharers = 0;     // of the card of the first one
    int under_leaf = 0;  // of its leaf switch
    ranks.for_each([&](int rank) {
        sharers += card_of(rank) == card_of(first) ? 1 : 0;
        under_leaf += nodes_per_leaf && leaf_of(rank) == leaf_of(first) ? 1 : 0;
    });
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

    const scenarios::NodeNetwork& network = cluster_.network;
    const double card_rate = network.nic_bandwidth.value * network.efficiency / sharers;
    const Shared nic = find_or_add(nics_, card_of(first), card_rate);
    ways.nic_out = nic.out;
    ways.nic_in = nic.in;

    if (nodes_per_leaf) {
        // The share of the uplinks of each of the GPUs, in the unit of the cards.
        const double uplinks =
            network_bandwidth(cluster_).value * *nodes_per_leaf / network.oversubscription;
        const Shared shared = find_or_add(leaves_, leaf_of(first), uplinks / under_leaf);
        ways.leaf_up = shared.out;
        ways.leaf_down = shared.in;
    }
    return ways;
}

bool Topology::same_node(Rank a, Rank b) const {
    const int gpus = std::max(1, cluster_.gpus_per_node);
    return std::ranges::all_of(replica_places_, [&](int place) {
        return (a.index * pipeline_stride_ + place) / gpus ==
               (b.index * pipeline_stride_ + place) / gpus;
    });
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
    const auto of = [&](Tier tier) { return cost.busy[tier]; };
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
