#pragma once

#include "scenarios/scenario.h"

namespace debubble::exec {

using scenarios::CheckpointOptions;
using scenarios::lr_of;
using scenarios::LrSchedule;
using scenarios::moments_of;
using scenarios::OptimizerOptions;

/// How a run trains: RunOptions whose learning rate has its end.
using TrainingOptions = scenarios::RunOptions;

/// The scenario's, with the learning rate's end after its `steps` where nothing else is said.
/// Throws InputError where a rate needs an end and has none, or ends before its warm-up does.
TrainingOptions read_training_options(const scenarios::Scenario& scenario);

}  // namespace debubble::exec
