#pragma once

#include <string>

#include "exec/program/run/run_job.h"

/// Ranks that are processes predict once: rank 0 does, and tells the others.
namespace debubble::exec {

/// The Program and what each pipeline rank holds at its fullest, as text: JSON.
std::string plan_text(const Program& program, const std::vector<Bytes>& planned);

/// Makes what plan_text() wrote part of the job: the planned memory, and the Program where the job
/// has none of its own (RunJob::program_hash is empty). A job that has made its Program keeps it:
/// check_same_run compares the hashes of all ranks.
void adopt_plan(const std::string& text, RunJob& job);

/// Collective over all ranks, each a process with a job of its own: plan_text() of rank 0's job,
/// adopted by the others.
void share_plan(Communicator& world, RunJob& job);

}  // namespace debubble::exec
