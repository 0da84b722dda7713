#pragma once

#include <functional>
#include <span>
#include <vector>

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

/// What a group is for: communicators are made when it is, in an order that is that of all its
/// ranks.
struct GroupUse {
    std::vector<Edge> edges;
    bool collectives = true;
};
/// The same on all ranks, for a list of global ranks.
using Plan = std::function<GroupUse(std::span<const int> ranks)>;

/// The edges of a Program between its pipeline ranks, each once, in order.
std::vector<Edge> edges_of(const Program& program);

}  // namespace debubble::exec::nccl
