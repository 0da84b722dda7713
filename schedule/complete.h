#pragma once

#include <vector>

#include "schedule/lower_options.h"
#include "schedule/schedule.h"
#include "schedule/violation.h"

/// Schedules from elsewhere. PyTorch's lowered CSV knows neither an optimizer nor tied
/// parameters, and gathers and reduces whether anything is sharded or not.
namespace debubble {

/// What training needs beyond an imported schedule: each kind of action that it has none of is
/// added by the pass of lower() that adds it, so that of computes alone it makes what lower()
/// does. Gathers where no stage is gathered, and reductions where a gradient has one holder, have
/// nothing to do and are left out.
Program complete(Schedule imported, const LowerOptions& options);

/// Where a program reduces gradients, or steps, otherwise than its computes need: what it would
/// train is not the model.
std::vector<Violation> check_training(const Program& program, const LowerOptions& options);

}  // namespace debubble
