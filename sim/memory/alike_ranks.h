#pragma once

#include "schedule/schedule.h"
#include "sim/memory/memory_model.h"
#include "sim/memory/rank_stages.h"

/// Ranks that hold the same at the same actions. In a deep pipeline most neighbours do, whose lists
/// differ in nothing but their stages.
namespace debubble::sim {

/// True if memory_events() of both ranks are the same, event by event, but for the stages that
/// their passes name. To find out costs a tenth of writing the events. `index` is that of the
/// program's placement.
bool have_alike_events(const Program& program, const PlacementIndex& index,
                       const MemoryModel& memory, Rank a, Rank b);

/// True if the allocators of two ranks are asked for the same, event by event, for stages that have
/// one graph: what one of them reserves the other does too.
bool asks_alike(const RankStages& stages, const Program& program, Rank a, Rank b);

}  // namespace debubble::sim
