#pragma once

#include "exec/program/run/run_job.h"
#include "exec/program/run/world/same_run.h"

namespace debubble::exec {

/// The facts that decide the numbers of a run and its steps: the resolved scenario, with the
/// content of files instead of their paths, the Program, the data, the first and last step, and the
/// kernels. Facts of speed and of outputs (paths, deadlines) are not among them. The vector unit,
/// oneDNN's instructions and the number of threads, which only change rounding, are facts where
/// copies of a parameter would drift apart by them. Reads some of the data. `job` has several
/// processes.
RunFacts facts_of(const RunJob& job);

/// The facts of the scenario, under its keys.
RunFacts scenario_facts(const scenarios::Scenario& scenario, const TrainingOptions& options);

}  // namespace debubble::exec
