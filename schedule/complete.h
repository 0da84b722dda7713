#pragma once

#include <vector>

#include "schedule/lower_options.h"
#include "schedule/schedule.h"
#include "schedule/violation.h"

/// Schedules from elsewhere. PyTorch's lowered CSV knows neither an optimizer nor tied
/// parameters, and gathers and reduces whether anything is sharded or not.
namespace debubble {

/// Adds what training needs to an imported schedule: each kind of action that is missing altogether
/// is added by the pass of lower() that adds it, so that a list of computes alone becomes what
/// lower() makes of it. Gathers where no stage is sharded and reductions of a gradient with one
/// holder have no effect and are left out.
Program complete(Schedule imported, const LowerOptions& options);

/// The actions in which a program reduces gradients, or steps, differently from what its computes
/// need: it would train something other than the model.
std::vector<Violation> check_training(const Program& program, const LowerOptions& options);

}  // namespace debubble
