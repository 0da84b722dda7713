#pragma once

#include <vector>

#include "schedule/schedule.h"
#include "schedule/transport.h"
#include "schedule/violation.h"

namespace debubble {

/// All violations under one transport. Takes compute-only schedules (their sends and receives are
/// implied) and lowered programs.
std::vector<Violation> validate(const Schedule& schedule, Transport transport);

/// The violations under all three transports; one that several share is listed once.
std::vector<Violation> validate(const Schedule& schedule);

}  // namespace debubble
