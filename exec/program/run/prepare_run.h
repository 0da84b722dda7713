#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "exec/core/stage/operators/executor_scenario.h"
#include "exec/program/run/run_job.h"
#include "exec/program/run/world/same_run.h"
#include "scenarios/plan/plan.h"

/// The preparation of a run before its ranks start: everything that can be wrong is read, planned
/// and compared.
namespace debubble::exec {

/// Reads, plans and opens everything that can be wrong before ranks start. Rank 0 prices the plan
/// and predicts the memory, and gives both to the others (share_plan). Throws InputError,
/// InvalidSchedule, WorldError.
RunJob prepare_run(const RunRequest& request, const ProcessPlace& place);

/// Reads only the scenario as it was asked for, with its T x C x D x p ranks.
scenarios::Scenario read_for_run(const RunRequest& request);

/// Throws InputError at the place in the scenario's file of the key, or of the innermost map around
/// it that is there; where `--set` or an included file has it, in the file as a whole.
[[noreturn]] void refuse_at(const std::string& scenario, const Unsupported& part);

// Whether a plan fits on this machine, checked before anything is allocated.

/// The predicted peak bytes of each pipeline rank when this executor runs the plan (the scenario's
/// own if none is given), predicted by `sim/predict`. Empty where that cannot predict the scenario
/// or would take minutes: the run then goes without.
std::vector<Bytes> planned_memory(const scenarios::Scenario& scenario,
                                  const scenarios::Plan* plan = nullptr);

/// Main memory that this process may still take, within the machine and its control group.
Bytes available_memory();

/// Checks the memory of ranks that are threads of this process. Throws WorldError with both numbers
/// if there is less memory than the plan needs.
void check_memory(const std::vector<Bytes>& planned, const scenarios::Parallel& parallel,
                  Bytes available);

// Ranks that are processes predict once: rank 0 does, and sends the result to the others.

/// The job's Program, the layers of its stages and the predicted peak bytes of each pipeline rank,
/// as JSON text.
std::string plan_text(const RunJob& job);

/// Puts the content of plan_text() into the job: the planned memory, the cut into stages if the job
/// takes it (RunJob::takes_cut), and the Program if the job has none of its own
/// (RunJob::program_hash is empty). A job that has made its Program or its cut keeps it:
/// check_same_run compares those of all ranks.
void adopt_plan(const std::string& text, RunJob& job);

/// Sends plan_text() of rank 0's job to all ranks, which adopt it; a collective over all ranks,
/// each a process with a job of its own.
void share_plan(Communicator& world, RunJob& job);

/// The facts that decide the numbers of a run and its steps: the resolved scenario, with the
/// content of files instead of their paths, the Program, the data, the first and last step, and the
/// kernels. Facts of speed and of outputs (paths, deadlines) are not among them. The vector unit,
/// oneDNN's instructions and the number of threads, which only change rounding, are facts where
/// copies of a parameter would drift apart by them. Reads some of the data. `job` has several
/// processes.
RunFacts facts_of(const RunJob& job);

/// The facts of the scenario, under its keys.
RunFacts scenario_facts(const scenarios::Scenario& scenario, const TrainingOptions& options);

/// A text such as "124 samples with the fingerprint 2b6f...". Reads some of the data.
std::string data_in_words(const Batches& batches);

/// Sentences about changes of a resumed run against the one before that may not be meant: a
/// learning rate that ends elsewhere, and other data. None if the run is not resumed, or the
/// checkpoint does not state the old values.
std::vector<std::string> notes_on_changes(const RunJob& job);

}  // namespace debubble::exec
