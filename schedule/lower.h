#pragma once

#include "schedule/lower_options.h"
#include "schedule/schedule.h"

/// From the order that a generator wrote to the program that a rank can run.
namespace debubble {

/// All passes, in order. Precondition: validate(compute_only) is empty. Read this function's body
/// to know what lowering does.
Program lower(Schedule compute_only, const LowerOptions& options);

}  // namespace debubble
