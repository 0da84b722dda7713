#pragma once

#include "exec/program/run/run_job.h"
#include "exec/program/run/same_run.h"

namespace debubble::exec {

/// What decides the numbers of a run and which steps it takes: the scenario as it was resolved,
/// with what files hold instead of their paths, the Program, data, beginning and end, and what
/// computes. Not how fast it runs, or what it writes where: paths, deadlines, outputs. Vector
/// unit, oneDNN's instructions and threads, which only round otherwise, are facts where copies of
/// a parameter would drift apart by it.
/// Reads some of the data. `job` is of several processes.
RunFacts facts_of(const RunJob& job);

/// The part of it that the scenario says, under its keys.
RunFacts scenario_facts(const scenarios::Scenario& scenario, const TrainingOptions& options);

}  // namespace debubble::exec
