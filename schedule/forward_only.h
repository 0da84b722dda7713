#pragma once

#include "schedule/schedule.h"

namespace debubble {

/// What evaluates with the stages of a training program: its forwards, what they send each
/// other, and the gathers of sharded parameters around them, in the order that they have there.
/// What is left of a program that ends, ends.
Program forward_only(const Program& program);

}  // namespace debubble
