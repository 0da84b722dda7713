#pragma once

#include <string>

#include "exec/program/run/run_job.h"

/// Ranks that are processes predict once: rank 0 does, and sends the result to the others.
namespace debubble::exec {

/// The job's Program, the layers of its stages and the bytes of each pipeline rank at its fullest,
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

}  // namespace debubble::exec
