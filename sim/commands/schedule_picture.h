#pragma once

#include <string>

#include "schedule/replay/replay.h"
#include "schedule/schedule.h"
#include "sim/commands/cost_units.h"

namespace debubble::sim {

/// The replayed order as an SVG picture, in which a unit of cost is one millisecond. Precondition:
/// the schedule has computes only. Throws InputError for more ranks than a picture shows.
std::string picture_of(const Schedule& schedule, const Replay& replay, const CostUnits& units);

}  // namespace debubble::sim
