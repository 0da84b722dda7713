#pragma once

#include "scenarios/plan/scenario.h"

namespace debubble::exec {

using scenarios::CheckpointOptions;
using scenarios::lr_of;
using scenarios::LrSchedule;
using scenarios::moments_of;
using scenarios::OptimizerOptions;
using scenarios::RouterOptions;

/// The training options of a run: RunOptions whose learning rate has its end.
using TrainingOptions = scenarios::RunOptions;

/// The scenario's options; the learning rate ends after its `steps` unless the scenario says
/// otherwise. Throws InputError if a rate needs an end and has none, or ends before its warm-up
/// does.
TrainingOptions training_options(const scenarios::Scenario& scenario);

}  // namespace debubble::exec
