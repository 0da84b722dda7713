#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.h"
#include "sim/memory/memory_events.h"
#include "sim/memory/rank_stages.h"

/// What neighbouring ranks ask their allocators for in common. In a deep pipeline a rank's warm-up
/// is that of the next rank and one forward more, so what is reserved up to there is found out
/// once.
namespace debubble::sim {

/// A rank's events, in the order in which its allocator meets them.
struct OrderedEvents {
    Rank rank;
    std::vector<MemoryEvent> events;
    std::vector<std::uint32_t> order;  ///< indices of events, by time
};

/// The number of events, from the first on, for which both allocators are asked for the same, from
/// the same beginnings. An event counts where both have it at the same index.
std::size_t shared_requests(const RankStages& stages, const Program& program,
                            const OrderedEvents& a, const OrderedEvents& b);

/// The stage of rank `to` that is what `stage` is to rank `from`, if that one holds it.
Stage counterpart(const Placement& placement, Stage stage, Rank from, Rank to);

}  // namespace debubble::sim
