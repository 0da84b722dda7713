#pragma once

#include <functional>
#include <span>
#include <vector>

#include "exec/core/communicator/rank_grid.h"
#include "schedule/action.h"
#include "schedule/schedule.h"

namespace debubble::exec::nccl {

/// A way that messages take between two positions of a group.
struct Edge {
    int from = 0;
    int to = 0;
    Message::Kind kind{};
    std::int32_t tag = 0;
    friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// The use of a group: communicators are made for it in advance, in an order that is the same on
/// all its ranks.
struct GroupUse {
    std::vector<Edge> edges;
    bool collectives = true;
    /// Whether its ranks' kernels stand still until a collective is done, as those of tensor,
    /// context and expert parallelism do inside a pass.
    bool callers_stand_still = false;
};
/// Groups whose collectives lie inside a pass.
bool stands_still(const RankGrid& grid, std::span<const int> ranks);
/// Gives the use of a group from its global ranks; the same on all ranks.
using GroupPlan = std::function<GroupUse(std::span<const int> ranks)>;

/// The edges of a Program between its pipeline ranks, each once, in order.
std::vector<Edge> edges_of(const Program& program);

}  // namespace debubble::exec::nccl
