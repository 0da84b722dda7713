#pragma once

#include <map>
#include <memory>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/core/communicator/rank_grid.h"
#include "schedule/schedule.h"

/// With whom a rank shares parameters and gradients.
namespace debubble::exec {

/// The ranks that share one stage of this rank's tensor rank. The pointers are empty where the
/// group is this rank alone.
struct StageGroup {
    std::unique_ptr<Communicator> holders;  ///< its holders, of this data and context rank
    std::unique_ptr<Communicator>
        everyone;  ///< data x context x holders; if it has several holders
    bool first_holder = true;
};

struct TrainingGroups {
    Communicator* world = nullptr;
    std::unique_ptr<Communicator> replicas;  ///< data x context ranks, of this pipeline rank
    std::unique_ptr<Communicator> tensor;
    std::unique_ptr<Communicator> context;  ///< those with which this rank shares each sequence
    std::unique_ptr<Communicator> tied;  ///< all holders of tied stages; if not each has them all
    std::map<Stage, StageGroup> stages;  ///< those that this rank holds
    GridPlace place;
    RankGrid grid;

    int shard() const { return place.context + grid.context * place.data; }
};

/// All ranks of `world` ask for it together. `world` must outlive the groups.
TrainingGroups make_groups(Communicator& world, const RankGrid& grid, const Program& program,
                           const std::vector<Stage>& tied);

}  // namespace debubble::exec
