#pragma once

#include "schedule/lower_options.h"
#include "schedule/schedule.h"

/// The way from the order that a generator wrote to the program that a rank can run.
namespace debubble {

/// All passes, in order. Precondition: validate(compute_only) is empty. The body of this function
/// lists the steps of lowering.
Program lower(Schedule compute_only, const LowerOptions& options);

}  // namespace debubble
