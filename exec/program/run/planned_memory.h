#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "scenarios/scenario.h"

/// Whether a plan fits on this machine, before anything of it is allocated.
namespace debubble::exec {

/// What each pipeline rank holds at its fullest by the plan, with this executor's kernels and
/// buffers. Empty where `debubble simulate` beside this program does not tell.
std::vector<Bytes> planned_memory(const std::string& scenario, const std::vector<std::string>& set,
                                  const scenarios::Scenario& read);

/// Main memory that this process may still take, of the machine and of its control group.
Bytes available_memory();

/// Of ranks that are threads of this process. Throws WorldError with both numbers where there is
/// less memory than the plan needs.
void check_memory(const std::vector<Bytes>& planned, const scenarios::Parallel& parallel,
                  Bytes available);

}  // namespace debubble::exec
