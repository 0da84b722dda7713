#pragma once

#include <vector>

#include "schedule/placement.h"
#include "sim/network/topology.h"

namespace debubble::sim {

/// Which links more than one thing uses: messages, collectives of whole stages, and the passes of
/// each pipeline rank. What a pass sends over a link of its own meets nobody, so that nobody need
/// play it.
class LinkUse {
public:
    /// `in_passes`: the tiers that the passes of any stage use, by Tier.
    LinkUse(const scenarios::Scenario& scenario, const PlacementIndex& placement,
            const Topology& topology, const TierSeconds& in_passes);

    /// Does anything else than the rank's own passes use its links of the tier?
    bool shared(Tier tier, Rank rank) const;

private:
    void messages(const PlacementIndex& placement);
    void messages(Rank from, Rank to);
    void collectives(const scenarios::Scenario& scenario, Rank rank);
    void use(Tier tier, Rank rank);

    const Topology& topology_;
    std::vector<int> users_;  ///< by link; one rank's passes are one
};

}  // namespace debubble::sim
