#pragma once

#include <vector>

#include "base/units.h"
#include "scenarios/plan.h"

/// Whether a plan fits on this machine, before anything of it is allocated.
namespace debubble::exec {

/// What each pipeline rank holds at its fullest when this executor runs the plan (the scenario's
/// own where none is given), as `sim/predict` says. Empty where that cannot predict the scenario or
/// takes minutes: a run goes without.
std::vector<Bytes> planned_memory(const scenarios::Scenario& scenario,
                                  const scenarios::Plan* plan = nullptr);

/// Main memory that this process may still take, of the machine and of its control group.
Bytes available_memory();

/// Of ranks that are threads of this process. Throws WorldError with both numbers where there is
/// less memory than the plan needs.
void check_memory(const std::vector<Bytes>& planned, const scenarios::Parallel& parallel,
                  Bytes available);

}  // namespace debubble::exec
