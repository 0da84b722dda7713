#pragma once

#include <vector>

#include "schedule/schedule.h"
#include "sim/memory/memory_events.h"
#include "sim/memory/rank_stages.h"

namespace debubble::sim {

/// A rank and the events of its memory.
struct RankEvents {
    Rank rank;
    std::vector<MemoryEvent> events;
};

/// True if the allocators of two ranks are asked for the same, event by event, for stages that have
/// one graph: what one of them reserves the other does too. In a deep pipeline most neighbours are
/// so, whose lists differ in nothing but their stages.
bool asks_alike(const RankStages& stages, const Program& program, const RankEvents& a,
                const RankEvents& b);

}  // namespace debubble::sim
