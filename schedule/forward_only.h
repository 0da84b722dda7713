#pragma once

#include "schedule/schedule.h"

namespace debubble {

/// The program that evaluates with the stages of a training program: its forwards, the messages
/// between them, and the gathers of sharded parameters around them, in the order of the training
/// program. If that program finishes, this one does too.
Program forward_only(const Program& program);

}  // namespace debubble
