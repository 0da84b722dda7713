#pragma once

#include <map>
#include <memory>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/core/communicator/rank_grid.h"
#include "schedule/schedule.h"

/// The groups in which a rank shares parameters and gradients.
namespace debubble::exec {

/// The ranks that share one stage of this rank's tensor rank. A pointer is empty where the group is
/// this rank alone.
struct StageGroup {
    /// Holders of the stage that have this data and context rank.
    std::unique_ptr<Communicator> holders;
    std::unique_ptr<Communicator>
        everyone;  ///< data x context x holders, if the stage has several holders
    /// The same of the ranks that have the same part of the same experts, if that is another group.
    std::unique_ptr<Communicator> experts_everyone;
    bool first_holder = true;
};

struct TrainingGroups {
    Communicator* world = nullptr;
    std::unique_ptr<Communicator> replicas;  ///< data x context ranks of this pipeline rank
    std::unique_ptr<Communicator> tensor;
    /// The ranks of them that share each sequence with this rank.
    std::unique_ptr<Communicator> context;
    std::unique_ptr<Communicator> tied;  ///< all holders of tied stages, unless each has them all
    // The groups of experts; the last is made only where it differs from `replicas`.
    std::unique_ptr<Communicator> experts;        ///< ranks that share a layer's experts
    std::unique_ptr<Communicator> expert_tensor;  ///< ranks that cut each expert
    std::unique_ptr<Communicator> expert_block;   ///< both: all ranks between which tokens are sent
    std::unique_ptr<Communicator> expert_replicas;  ///< ranks that have the same part of experts
    std::map<Stage, StageGroup> stages;             ///< groups of the stages that this rank holds
    GridPlace place;
    RankGrid grid;

    ExpertPlace expert_place() const { return grid.expert_place_of(grid.global_rank(place)); }
    int shard() const { return place.context + grid.context * place.data; }
};

/// Makes the groups. All ranks of `world` ask for them together. `world` must outlive the groups.
TrainingGroups make_groups(Communicator& world, const RankGrid& grid, const Program& program,
                           const std::vector<Stage>& tied);

}  // namespace debubble::exec
