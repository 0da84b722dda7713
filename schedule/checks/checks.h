#pragma once

#include "schedule/checks/findings.h"
#include "schedule/schedule.h"

/// The parts of validate() that look at lists, and do not play them.
namespace debubble {

/// Each compute exactly once, on a rank that holds its stage, behind what it
/// needs from that rank itself; recomputes, offloads and reloads in between.
void check_computes(const Schedule& schedule, Findings& findings);

/// Each result that another rank needs is sent and received once, behind what
/// makes it and before what takes it. Precondition: no finding of check_computes().
void check_messages(const Program& program, Findings& findings);

/// Unshard and Reshard alternate around the computes; every gradient is reduced
/// before the optimizer step, and all ranks take part in what concerns all.
void check_collectives(const Schedule& schedule, Findings& findings);

}  // namespace debubble
