#include "exec/core/training/training_groups.h"

#include <algorithm>
#include <functional>
#include <set>

namespace debubble::exec {

namespace {

std::unique_ptr<Communicator> group(Communicator& world, const std::vector<int>& ranks) {
    const bool member = std::ranges::find(ranks, world.global_rank()) != ranks.end();
    return member && ranks.size() > 1 ? world.group(ranks) : nullptr;
}

/// The ranks of these pipeline ranks that have this tensor, context and data rank.
std::vector<int> along_pipeline(const RankGrid& grid, GridPlace at, const std::vector<Rank>& on) {
    std::vector<int> ranks;
    for (const Rank rank : on) {
        at.pipeline = rank.index;
        ranks.push_back(grid.global_rank(at));
    }
    return ranks;
}

/// The ranks of all of these groups, each at one of these pipeline ranks.
template <class Group>
std::vector<int> everyone(const RankGrid& grid, GridPlace at, const std::vector<Rank>& on,
                          const Group& group_of) {
    std::vector<int> ranks;
    for (const Rank rank : on) {
        at.pipeline = rank.index;
        const std::vector<int> there = std::invoke(group_of, grid, at);
        ranks.insert(ranks.end(), there.begin(), there.end());
    }
    return ranks;
}

/// All holders of tied stages; none if each of them has all of these stages.
std::vector<Rank> tied_holders(const Placement& placement, const std::vector<Stage>& tied) {
    std::set<Rank> holders;
    std::size_t held = 0;
    for (const Stage stage : tied) {
        const std::vector<Rank> of_stage = placement.ranks_of(stage);
        holders.insert(of_stage.begin(), of_stage.end());
        held += of_stage.size();
    }
    if (held == holders.size() * tied.size()) return {};
    return {holders.begin(), holders.end()};
}

}  // namespace

TrainingGroups make_groups(Communicator& world, const RankGrid& grid, const Program& program,
                           const std::vector<Stage>& tied) {
    TrainingGroups groups;
    groups.world = &world;
    groups.grid = grid;
    groups.place = grid.place_of(world.global_rank());
    const GridPlace& place = groups.place;
    groups.replicas = group(world, grid.gradient_group(place));
    groups.tensor = group(world, grid.tensor_group(place));
    groups.context = group(world, grid.context_group(place));
    if (grid.expert_block() > 1 && grid.expert_tensor) {
        groups.experts = group(world, grid.expert_group(place));
        groups.expert_tensor = group(world, grid.expert_tensor_group(place));
        groups.expert_block = group(world, grid.expert_block_group(place));
    }
    if (grid.experts_apart())
        groups.expert_replicas = group(world, grid.expert_gradient_group(place));
    groups.tied = group(world, along_pipeline(grid, place, tied_holders(program.placement, tied)));
    // Groups are made in the order of the stages, which is the same on all ranks.
    for (int s = 0; s < program.stage_count(); ++s) {
        const std::vector<Rank> holders = program.placement.ranks_of(Stage{s});
        if (std::ranges::find(holders, Rank{place.pipeline}) == holders.end()) continue;
        StageGroup& stage = groups.stages[Stage{s}];
        stage.first_holder = holders.front().index == place.pipeline;
        if (holders.size() == 1) continue;
        stage.holders = group(world, along_pipeline(grid, place, holders));
        stage.everyone = group(world, everyone(grid, place, holders, &RankGrid::gradient_group));
        if (grid.experts_apart())
            stage.experts_everyone =
                group(world, everyone(grid, place, holders, &RankGrid::expert_gradient_group));
    }
    return groups;
}

}  // namespace debubble::exec
