#pragma once

#include "schedule/schedule.h"

namespace debubble {

/// The program that runs every stage of a training program through each of its passes once: one
/// microbatch for every stage and rank, with the messages between ranks, the gathers of parameters
/// and the reductions of gradients, in the order of the training program. It has no norm and no
/// optimizer step, so a rank that zeroes its gradients afterwards is in its former state.
Program rehearsal_of(const Program& program);

}  // namespace debubble
