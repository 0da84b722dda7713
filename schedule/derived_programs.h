#pragma once

#include "schedule/schedule.h"

/// Programs derived from the program of a training step.
namespace debubble {

/// The program that evaluates with the stages of a training program: its forwards, the messages
/// between them, and the gathers of sharded parameters around them, in the order of the training
/// program. If that program finishes, this one does too.
Program forward_only(const Program& program);

/// The program that runs every stage of a training program through each of its passes once: one
/// microbatch for every stage and rank, with the messages between ranks, the gathers of parameters
/// and the reductions of gradients, in the order of the training program. It has no norm and no
/// optimizer step, so a rank that zeroes its gradients afterwards is in its former state.
Program rehearsal_of(const Program& program);

}  // namespace debubble
