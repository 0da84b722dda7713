#pragma once

#include <vector>

#include "schedule/schedule.h"
#include "schedule/transport.h"
#include "schedule/violation.h"

namespace debubble {

/// All violations under one transport. Takes compute-only schedules (their sends and receives are
/// implied: as lower() would place them for that transport) and lowered programs.
std::vector<Violation> validate(const Schedule& schedule, Transport transport);

/// The violations under the transports of this project's executor, and with buffered sends; a
/// violation of several is listed once.
std::vector<Violation> validate(const Schedule& schedule);

/// An order on one transport.
struct TransportVerdict {
    Transport transport{};
    std::vector<Violation> violations;  ///< Deadlock or Exchanged; none if it finishes
};
/// On each of kTransports. Precondition: the order has no violation of another kind.
std::vector<TransportVerdict> judge_transports(const Schedule& schedule);

}  // namespace debubble
