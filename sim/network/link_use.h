#pragma once

#include <vector>

#include "schedule/placement.h"
#include "sim/network/topology.h"

namespace debubble::sim {

/// Links with several kinds of traffic: messages, collectives of whole stages, and the passes of
/// each pipeline rank. Traffic of a pass on a link of its own meets no other, so it need not be
/// simulated.
class LinkUse {
public:
    /// `in_passes` holds the tiers that the passes of any stage use, indexed by Tier.
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
