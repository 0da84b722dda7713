#pragma once

#include <vector>

#include "base/units.h"
#include "scenarios/plan/plan.h"

/// Whether a plan fits on this machine, checked before anything of it is allocated.
namespace debubble::exec {

/// The bytes of each pipeline rank at its fullest when this executor runs the plan (the scenario's
/// own if none is given), predicted by `sim/predict`. Empty where that cannot predict the scenario
/// or would take minutes: the run then goes without.
std::vector<Bytes> planned_memory(const scenarios::Scenario& scenario,
                                  const scenarios::Plan* plan = nullptr);

/// Main memory that this process may still take, within the machine and its control group.
Bytes available_memory();

/// Checks the memory of ranks that are threads of this process. Throws WorldError with both numbers
/// if there is less memory than the plan needs.
void check_memory(const std::vector<Bytes>& planned, const scenarios::Parallel& parallel,
                  Bytes available);

}  // namespace debubble::exec
