#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "scenarios/plan/scenario.h"
#include "schedule/placement.h"
#include "sim/network/collective_cost.h"
#include "sim/network/flow.h"
#include "sim/network/group.h"

/// The links that one replica's pipeline uses, shared with the replicas that it represents: per
/// pipeline rank its GPU's links into the node's fabric and to the host, per network card one link
/// in and one out, per leaf switch one up and one down. A card's capacity is divided by the GPUs of
/// the pipeline rank that use it at the same time, because they are folded into one.
namespace debubble::sim {

class Topology {
public:
    explicit Topology(const scenarios::Scenario& scenario);

    std::span<const BytesPerSecond> links() const { return links_; }

    /// True if messages between these pipeline ranks stay inside nodes, in every replica.
    bool same_node(Rank a, Rank b) const;
    /// A message of `bytes` from one GPU to its peer, after `latency`.
    Flow message(Rank from, Rank to, Bytes bytes, Duration latency) const;
    /// A collective in which these pipeline ranks take part, each with its replicas, on the links
    /// of every tier that it uses.
    Flow collective(const CollectiveCost& cost, Bytes payload,
                    std::span<const Rank> participants) const;
    /// A flow that keeps a pipeline rank's own links of a tier busy for `seconds`.
    InnerFlow inner_flow(Tier tier, double seconds, Rank rank) const;
    /// A copy between device and host memory, with the whole host link to itself.
    Flow host_copy(Rank rank, Bytes bytes) const;

private:
    struct Ways {
        Link node_out = 0;
        Link node_in = 0;
        Link nic_out = 0;
        Link nic_in = 0;
        std::optional<Link> leaf_up;  ///< this and leaf_down: set if the cluster has leaves
        std::optional<Link> leaf_down;
        Link host = 0;
    };
    Link add(double bytes_per_second);
    Ways ways_of(const RankSet& ranks);
    double capacity(Link link) const { return links_[link].value; }
    static InlineVector<Link, 2> links_of(Tier tier, const Ways& ways);
    /// The bytes that keep the participants' links of the tier busy for `seconds`.
    LinkBytes occupying(Tier tier, double seconds, std::span<const Rank> participants) const;

    const scenarios::Cluster& cluster_;
    int pipeline_stride_;  ///< from a rank to the next one of its pipeline
    std::vector<int>
        replica_places_;  ///< of the GPUs of the pipeline's first rank in their nodes, each once
    std::vector<BytesPerSecond> links_;
    std::vector<Ways> ways_;  ///< indexed by pipeline rank
    struct Shared {           ///< a card or a leaf that several pipeline ranks may use
        int id;
        Link out;
        Link in;
    };
    std::vector<Shared> nics_;
    std::vector<Shared> leaves_;
};

/// Links with several kinds of traffic: messages, collectives of whole stages, and the passes of
/// each pipeline rank. Traffic of a pass on a link of its own meets no other, so it need not be
/// simulated.
class LinkUse {
public:
    /// `in_passes` holds the tiers that the passes of any stage use.
    LinkUse(const scenarios::Scenario& scenario, const PlacementIndex& placement,
            const Topology& topology, const TierSeconds& in_passes);

    /// True if anything other than the rank's own passes uses its links of the tier.
    bool shared(Tier tier, Rank rank) const;

private:
    void messages(const PlacementIndex& placement);
    void messages(Rank from, Rank to);
    void collectives(const scenarios::Scenario& scenario, Rank rank);
    void use(Tier tier, Rank rank);

    const Topology& topology_;
    std::vector<int> users_;  ///< by link; all passes of a rank count as one user
};

}  // namespace debubble::sim
