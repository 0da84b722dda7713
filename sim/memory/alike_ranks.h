#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.h"
#include "sim/memory/memory_events.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/rank_stages.h"

/// Ranks that hold the same at the same actions, for all of a step or from its beginning on. In a
/// deep pipeline most neighbours do, whose lists differ in nothing but their stages.
namespace debubble::sim {

/// True if memory_events() of both ranks are the same, event by event, but for the stages that
/// their passes name. To find out costs a tenth of writing the events. `index` is that of the
/// program's placement.
bool have_alike_events(const Program& program, const PlacementIndex& index,
                       const MemoryModel& memory, Rank a, Rank b);

/// True if the allocators of two ranks are asked for the same, event by event, for stages that have
/// one graph: what one of them reserves the other does too.
bool asks_alike(const RankStages& stages, const Program& program, Rank a, Rank b);

// Where a rank's warm-up is that of the next rank and one forward more, what is reserved up to
// there is found out once.

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
