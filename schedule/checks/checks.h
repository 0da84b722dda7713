#pragma once

#include "schedule/checks/findings.h"
#include "schedule/schedule.h"

/// The parts of validate() that check the lists without executing them.
namespace debubble {

/// Each compute exactly once, on a rank that holds its stage, after what it needs from that rank
/// itself; recomputes, offloads and reloads in between.
void check_computes(const Schedule& schedule, Findings& findings);

/// Each result that another rank needs is sent and received once, after the compute that makes it
/// and before the compute that needs it. Precondition: check_computes() has found nothing.
void check_messages(const Program& program, Findings& findings);

/// Unshard and Reshard alternate around the computes; every gradient is reduced before the
/// optimizer step, and all ranks take part in the collectives of all ranks.
void check_collectives(const Schedule& schedule, Findings& findings);

}  // namespace debubble
