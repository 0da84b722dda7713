#pragma once

#include "base/units.h"
#include "scenarios/plan/scenario.h"

namespace debubble::scenarios {

/// The part of a device's memory that no allocator gets: the framework's headroom on a GPU, nothing
/// on a processor, whose ranks are threads or processes of one machine.
Bytes headroom_of(const Scenario& scenario);

/// The part of a device's memory that an allocator can have. Never below zero.
Bytes room_of(const Scenario& scenario);

}  // namespace debubble::scenarios
