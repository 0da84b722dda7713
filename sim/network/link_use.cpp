#include "sim/network/topology.h"

#include "sim/network/group.h"

namespace debubble::sim {
namespace {

constexpr std::array kTiers{Tier::Node, Tier::Network, Tier::Spine};

}  // namespace

LinkUse::LinkUse(const scenarios::Scenario& scenario, const PlacementIndex& placement,
                 const Topology& topology, const TierSeconds& in_passes)
    : topology_(topology), users_(topology.links().size(), 0) {
    messages(placement);
    for (int index = 0; index < scenario.parallel.pipeline; ++index) {
        const Rank rank{index};
        collectives(scenario, rank);
        for (const Tier tier : kTiers)
            if (in_passes[tier] > 0) use(tier, rank);
    }
}

bool LinkUse::shared(Tier tier, Rank rank) const {
    for (const Link link : topology_.inner_flow(tier, 0, rank).links)
        if (users_[link] > 1) return true;
    return false;
}

void LinkUse::messages(const PlacementIndex& placement) {
    const int stages = placement.stage_count();
    for (Stage stage{0}; stage.index + 1 < stages; ++stage.index)
        for (const Rank from : placement.ranks_of(stage))
            for (const Rank to : placement.ranks_of(Stage{stage.index + 1})) messages(from, to);
    // The reductions between the holders of one stage, or of a tied tensor.
    for (Stage stage{0}; stage.index < stages; ++stage.index) {
        const auto holders = placement.ranks_of(stage);
        messages(holders.front(), holders.back());
    }
    messages(placement.ranks_of(Stage{0}).front(), placement.ranks_of(Stage{stages - 1}).front());
}

void LinkUse::messages(Rank from, Rank to) {
    if (from == to) return;
    for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)})
        for (const Link link : topology_.message(a, b, {}, {}).links) ++users_[link];
}

void LinkUse::collectives(const scenarios::Scenario& scenario, Rank rank) {
    if (scenario.parallel.gathers_in_passes()) return;  // the passes reduce them
    const auto uses = [&](const GroupPlacement& group) {
        if (group.per_node > 1) use(Tier::Node, rank);
        if (group.nodes > 1) use(Tier::Network, rank);
        if (group.leaves > 1) use(Tier::Spine, rank);
    };
    uses(gradient_group(scenario, rank.index));
    if (scenario.model.has_experts()) uses(expert_gradient_group(scenario, rank.index));
}

void LinkUse::use(Tier tier, Rank rank) {
    for (const Link link : topology_.inner_flow(tier, 0, rank).links) ++users_[link];
}

}  // namespace debubble::sim
