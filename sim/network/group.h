#pragma once

#include "scenarios/cluster.h"
#include "scenarios/scenario.h"

/// Where the members of a communicator lie. Global rank = tp + T (cp + C (dp + D pp)),
/// filled node after node, so every group of a parallel dimension is an
/// arithmetic progression of global ranks.
namespace debubble::sim {

/// How a group of processes lies on nodes: all that the cost of a collective
/// depends on, beside the machine.
struct GroupPlacement {
    int size = 1;
    int nodes = 1;            ///< that hold a member
    int per_node = 1;         ///< members in the node that holds most
    int groups_per_node = 1;  ///< groups of the same kind at work in a node: they share its NICs
    int leaves = 1;           ///< leaf switches that hold a member
    int groups_per_leaf = 1;  ///< groups of the same kind at work under one leaf
    friend bool operator==(const GroupPlacement&, const GroupPlacement&) = default;
};

/// `size` global ranks from `first` on, `stride` apart.
struct RankGroup {
    int first = 0;
    int stride = 1;
    int size = 1;
};

/// Global ranks [first, first + count) that do the same thing at the same time,
/// each in a group of the same shape.
struct RankBlock {
    int first = 0;
    int count = 1;
};

GroupPlacement place(const RankGroup& group, const RankBlock& block,
                     const scenarios::Cluster& cluster);

/// Whose groups are at work at the same time.
enum class Rivals { Job, PipelineRank };

/// The groups of pipeline rank `pipeline`, of its first replica. What tensor,
/// context and expert groups take counts those of the whole job; gradient groups
/// (data x context) compete with those of their own pipeline rank only: other
/// ranks' reductions are flows of their own.
GroupPlacement tensor_group(const scenarios::Scenario& scenario, int pipeline,
                            Rivals rivals = Rivals::Job);
GroupPlacement context_group(const scenarios::Scenario& scenario, int pipeline,
                             Rivals rivals = Rivals::Job);
GroupPlacement gradient_group(const scenarios::Scenario& scenario, int pipeline);
/// Ranks that share a layer's experts, that cut each of them, and that have the same: as
/// Megatron-Core lays them out, global rank = etp + ETP (ep + EP (edp + EDP pp)).
GroupPlacement expert_group(const scenarios::Scenario& scenario, int pipeline,
                            Rivals rivals = Rivals::Job);
GroupPlacement expert_tensor_group(const scenarios::Scenario& scenario, int pipeline,
                                   Rivals rivals = Rivals::Job);
GroupPlacement expert_gradient_group(const scenarios::Scenario& scenario, int pipeline);
/// Two pipeline ranks and their replicas, pair by pair (tied tensors, bidirectional copies).
GroupPlacement pair_group(const scenarios::Scenario& scenario, int pipeline, int other);
GroupPlacement whole_job(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
