#pragma once

#include "scenarios/cluster/cluster.h"
#include "scenarios/plan/scenario.h"

/// The placement of the members of a communicator. Global rank = tp + T (cp + C (dp + D pp)),
/// filled node after node, so every group of a parallel dimension is an arithmetic progression of
/// global ranks.
namespace debubble::sim {

/// The placement of a group of processes on nodes. Apart from the machine, the cost of a collective
/// depends on nothing else.
struct GroupPlacement {
    int size = 1;
    int nodes = 1;            ///< nodes that hold a member
    int per_node = 1;         ///< members in the node that holds the most
    int groups_per_node = 1;  ///< groups of the same kind that work in a node and share its NICs
    int leaves = 1;           ///< leaf switches that hold a member
    int groups_per_leaf = 1;  ///< groups of the same kind that work under one leaf
    friend bool operator==(const GroupPlacement&, const GroupPlacement&) = default;
};

/// A group of `size` global ranks from `first` on, `stride` apart.
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

/// The groups that work at the same time: those of the whole job, or of the pipeline rank.
enum class Rivals { Job, PipelineRank };

/// The groups of pipeline rank `pipeline`, of its first replica. The cost of tensor, context and
/// expert groups counts those of the whole job; gradient groups (data x context) compete with those
/// of their own pipeline rank only: other ranks' reductions are flows of their own.
GroupPlacement tensor_group(const scenarios::Scenario& scenario, int pipeline,
                            Rivals rivals = Rivals::Job);
GroupPlacement context_group(const scenarios::Scenario& scenario, int pipeline,
                             Rivals rivals = Rivals::Job);
/// The levels of context parallelism, of which there are two with ContextCommunication::TwoLevel.
GroupPlacement context_inner_group(const scenarios::Scenario& scenario, int pipeline,
                                   Rivals rivals = Rivals::Job);
GroupPlacement context_outer_group(const scenarios::Scenario& scenario, int pipeline,
                                   Rivals rivals = Rivals::Job);
/// The replicas of a parameter, those over which ZeRO cuts it (neighbours), or those with the same
/// shard (Parallel::shard).
enum class ReplicaGroup { All, Shards, Copies };
GroupPlacement gradient_group(const scenarios::Scenario& scenario, int pipeline,
                              ReplicaGroup which = ReplicaGroup::All);
/// The groups of ranks that share a layer's experts, that cut each expert, and that have the same
/// part: as Megatron-Core places them, global rank = etp + ETP (ep + EP (edp + EDP pp)).
GroupPlacement expert_group(const scenarios::Scenario& scenario, int pipeline,
                            Rivals rivals = Rivals::Job);
GroupPlacement expert_tensor_group(const scenarios::Scenario& scenario, int pipeline,
                                   Rivals rivals = Rivals::Job);
GroupPlacement expert_gradient_group(const scenarios::Scenario& scenario, int pipeline,
                                     ReplicaGroup which = ReplicaGroup::All);
/// Two pipeline ranks and their replicas, pair by pair (tied tensors, bidirectional copies).
GroupPlacement pair_group(const scenarios::Scenario& scenario, int pipeline, int other);
GroupPlacement whole_job(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
