#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "base/inline_vector.h"
#include "scenarios/cluster/cluster.h"
#include "scenarios/plan/scenario.h"

/// The placement of the members of a communicator. Global ranks fill node after node, and count the
/// dimensions of the layout in `parallel.order`, tp + T (cp + C (dp + D pp)) unless it says
/// otherwise: a group along some dimensions is a nest of arithmetic progressions of global ranks.
namespace debubble::sim {

/// The placement of a group of processes on nodes. Apart from the machine, the cost of a collective
/// depends on nothing else.
struct GroupPlacement {
    int size = 1;
    int nodes = 1;            ///< nodes that hold a member
    int per_node = 1;         ///< members in the node with the most
    int groups_per_node = 1;  ///< groups of the same kind that communicate in a node and share its
                              ///< NICs
    int leaves = 1;           ///< leaf switches that hold a member
    int groups_per_leaf = 1;  ///< groups of the same kind that communicate under one leaf
    friend bool operator==(const GroupPlacement&, const GroupPlacement&) = default;
};

/// `count` ranks (or sets of ranks), `stride` apart.
struct Progression {
    int count = 1;
    int stride = 1;
    friend constexpr auto operator<=>(const Progression&, const Progression&) = default;
};

/// The global ranks first + the sum of i stride over its levels, 0 <= i < count. Levels are nested:
/// the ranks of one end before the next repetition begins.
class RankSet {
public:
    RankSet(int first, std::initializer_list<Progression> inner_first);
    int first() const { return first_; }
    int size() const;
    /// The number of ranks, if they are neighbours.
    std::optional<int> consecutive() const;
    /// Calls `visit(rank)` for every member, in ascending order.
    template <class Visit>
    void for_each(Visit visit) const {
        descend(levels_.size(), first_, visit);
    }

private:
    template <class Visit>
    void descend(std::size_t level, int from, Visit& visit) const {
        if (level == 0) return visit(from);
        const Progression& of = levels_.begin()[level - 1];
        for (int i = 0; i < of.count; ++i) descend(level - 1, from + i * of.stride, visit);
    }

    int first_;
    InlineVector<Progression, 4> levels_;  ///< neighbours that continue each other are one
};

/// `rivals` are the ranks that do the same work at the same time, each in a group of the same
/// shape.
GroupPlacement place(const RankSet& group, const RankSet& rivals,
                     const scenarios::Cluster& cluster);

/// The ranks of a pipeline rank: all its replicas, with the ranks that shard them.
RankSet ranks_of_pipeline_rank(const scenarios::Parallel& parallel, int pipeline);

/// The groups that communicate at the same time: those of the whole job, or of the pipeline rank.
enum class Rivals { Job, PipelineRank };

/// The groups of pipeline rank `pipeline`, in its first replica. The cost of tensor, context and
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
/// The replicas of a parameter, those over which ZeRO shards it (neighbours), or those with the
/// same shard (Parallel::shard).
enum class ReplicaGroup { All, Shards, Copies };
GroupPlacement gradient_group(const scenarios::Scenario& scenario, int pipeline,
                              ReplicaGroup which = ReplicaGroup::All);
/// The groups of ranks that share a layer's experts, that cut each expert, and that have the same
/// part: as Megatron-Core places them, global rank = etp + ETP (ep + EP (edp + EDP pp)) unless
/// `parallel.order` says otherwise.
GroupPlacement expert_group(const scenarios::Scenario& scenario, int pipeline,
                            Rivals rivals = Rivals::Job);
GroupPlacement expert_tensor_group(const scenarios::Scenario& scenario, int pipeline,
                                   Rivals rivals = Rivals::Job);
GroupPlacement expert_gradient_group(const scenarios::Scenario& scenario, int pipeline,
                                     ReplicaGroup which = ReplicaGroup::All);
/// Two pipeline ranks and their replicas, pair by pair (tied tensors, bidirectional copies).
GroupPlacement pair_group(const scenarios::Scenario& scenario, int pipeline, int other);
/// The ranks of one replica's pipeline.
GroupPlacement pipeline_group(const scenarios::Scenario& scenario);
GroupPlacement whole_job(const scenarios::Scenario& scenario);

/// A kind of group that a plan has, with its first group's placement.
struct PlacedGroup {
    std::string_view name;  ///< "tensor", "context", "expert", "expert tensor", "data", "expert
                            ///< data", "pipeline"
    GroupPlacement at;
};
/// Those of more than one rank, the innermost first.
std::vector<PlacedGroup> placed_groups(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
