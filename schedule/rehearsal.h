#pragma once

#include "schedule/schedule.h"

namespace debubble {

/// What takes every stage of a training program through each of its passes once: of every stage
/// and rank one microbatch alone, with what its ranks send each other, the gathers of
/// parameters and the reductions of gradients, in the order that they have there. No norm and no
/// optimizer step, so that a rank which zeroes its gradients afterwards is as it was.
Program rehearsal_of(const Program& program);

}  // namespace debubble
