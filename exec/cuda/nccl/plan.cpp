#include "exec/cuda/nccl/setup.h"

#include <algorithm>
#include <set>

namespace debubble::exec::nccl {

std::vector<Edge> edges_of(const Program& program) {
    std::set<Edge> edges;
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
        for (const Action& action : program.ranks[rank]) {
            if (const auto* send = std::get_if<Send>(&action))
                edges.insert({static_cast<int>(rank), send->to.index, send->message.kind});
        }
    }
    return {edges.begin(), edges.end()};
}

/// A context-parallel group that also reduces gradients counts as one whose kernels wait: it is
/// used in every layer for attention, and once a step for the reduction.
bool stands_still(const RankGrid& grid, std::span<const int> ranks) {
    const GridPlace place = grid.place_of(ranks.front());
    const auto is = [&](const std::vector<int>& group) {
        return group.size() > 1 && std::ranges::equal(group, ranks);
    };
    return is(grid.tensor_group(place)) || is(grid.context_group(place)) ||
           (grid.experts_apart() &&
            (is(grid.expert_group(place)) || is(grid.expert_tensor_group(place)) ||
             is(grid.expert_block_group(place))));
}

}  // namespace debubble::exec::nccl
